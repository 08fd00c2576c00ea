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

/*
 * cuDNN's workspace of a recurrent layer, by the rule of the simulator (simulator/standins/cudnn/
 * rnn_space.c): a buffer for a product in each layer and direction, a copy of the weights, and
 * states of one layer.
 */
static uint64_t recurrent_workspace(const struct layer *layer, const struct flow *flow)
{
    enum { PRODUCT_BYTES = 8 << 20 };
    const struct layer_fields *fields = &layer->fields;
    const uint64_t directions = fields->bidirectional ? 2 : 1;
    const bool has_fewer = fields->layers > 1 && layer->kind->parameters != parameters_lstm;
    struct tensors own = {0};
    layer->kind->parameters(layer, flow->dtype, &own);
    const uint64_t weights = tensors_bytes(&own, CATEGORY_parameters);
    struct checked *checked = &own.checked;
    const uint64_t states = checked_mul3(checked, has_fewer ? 5 : 6, directions, flow->batch);
    const uint64_t state_bytes =
        checked_mul3(checked, flow->input.dims[0], fields->hidden, dtype_bytes(flow->dtype));
    const uint64_t products = checked_mul3(checked, fields->layers, directions, PRODUCT_BYTES);
    const uint64_t bytes = checked_add(checked, checked_add(checked, products, weights),
                                       checked_mul(checked, states, state_bytes));
    return checked->overflow ? UINT64_MAX : bytes;
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
