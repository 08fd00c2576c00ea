/* SPDX-License-Identifier: MIT */
/* See layer_workspace.h. */
#include "layer_workspace.h"

#include "layer_formulas.h"

static enum conv_type type_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_float32:
        return CONV_FLOAT;
    case DTYPE_float16:
        return CONV_HALF;
    case DTYPE_bfloat16:
        return CONV_BFLOAT16;
    default:
        return CONV_OTHER;
    }
}

static struct conv_tensor tensor_of(const struct shape *shape, uint64_t batch)
{
    struct conv_tensor tensor = {.count = (int)shape->rank + 1, .dimensions = {batch}};
    for (unsigned i = 0; i < shape->rank; i++)
        tensor.dimensions[i + 1] = shape->dims[i];
    return tensor;
}

/* Returns the filter's shape. In a transposed convolution, x and y are swapped: x is the result. */
static struct conv_tensor filter_of(const struct layer *layer, uint64_t into, uint64_t from)
{
    const unsigned rank = layer->kind->rank;
    struct conv_tensor filter = {.count = (int)rank + 2,
                                 .dimensions = {into, from / layer->fields.groups}};
    for (unsigned i = 0; i < rank; i++)
        filter.dimensions[i + 2] = layer->fields.kernel[i];
    return filter;
}

static bool is_plain(const struct layer *layer)
{
    bool plain = true;
    for (unsigned i = 0; i < layer->kind->rank; i++)
        plain = plain && layer->fields.stride[i] == 1 && layer->fields.padding[i] == 0 &&
                layer->fields.dilation[i] == 1;
    return plain;
}

static enum rnn_cell cell_of(const struct layer *layer)
{
    return layer->kind->parameters == parameters_lstm  ? RNN_LSTM
           : layer->kind->parameters == parameters_gru ? RNN_GRU
                                                       : RNN_TANH;
}

struct rnn_call layer_rnn_call(const struct layer *layer, const struct flow *flow)
{
    const struct layer_fields *fields = &layer->fields;
    struct tensors own = {0};
    layer->kind->parameters(layer, flow->dtype, &own);
    const uint64_t weights = tensors_bytes(&own, CATEGORY_parameters);
    return (struct rnn_call){.cell = cell_of(layer),
                             .has_dropout =
                                 flow->training && layer_gives(layer, FIELD_p) && fields->p > 0,
                             .layers = fields->layers,
                             .directions = fields->bidirectional ? 2 : 1,
                             .hidden_size = fields->hidden,
                             .projection_size = fields->hidden,
                             .steps = flow->input.dims[0],
                             .batch = flow->batch,
                             .element_bytes = dtype_bytes(flow->dtype),
                             .weight_bytes = own.checked.overflow ? UINT64_MAX : weights};
}

static uint64_t recurrent_workspace(const struct layer *layer, const struct flow *flow)
{
    const struct rnn_call call = layer_rnn_call(layer, flow);
    return rnn_work_bytes(&call);
}

uint64_t layer_workspace(const struct layer *layer, const struct flow *flow,
                         const struct layer_cores *cores, enum conv_direction direction)
{
    const bool is_transposed = layer->kind->shape == shape_transposed;
    const enum conv_type type = type_of(flow->dtype);
    if (layer->kind->shape == shape_recurrent)
        return recurrent_workspace(layer, flow);
    if (layer->kind->parameters != parameters_conv ||
        !conv_has_tensor_cores(type, cores->capability_major))
        return 0;
    const struct shape *x = is_transposed ? &flow->output : &flow->input,
                       *y = is_transposed ? &flow->input : &flow->output;
    struct conv_call call = {.direction = direction,
                             .type = type,
                             .element_bytes = dtype_bytes(flow->dtype),
                             .x = tensor_of(x, flow->batch),
                             .w = filter_of(layer, y->dims[0], x->dims[0]),
                             .y = tensor_of(y, flow->batch),
                             .is_plain = is_plain(layer),
                             .processor_count = cores->processor_count};

    if (is_transposed && direction != CONV_FILTER)
        call.direction = direction == CONV_FORWARD ? CONV_DATA : CONV_FORWARD;
    return conv_workspace_bytes(&call);
}
