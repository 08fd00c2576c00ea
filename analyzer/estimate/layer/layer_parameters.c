/* SPDX-License-Identifier: MIT */
/*
 * Adds the parameters and buffers of layers, for layers.def. They are added in the order in which
 * PyTorch registers them, because a model that is moved to the device allocates them in this order.
 */
#include "layer_formulas.h"

static void add_parameter(struct tensors *tensors, enum dtype dtype, const char *name,
                          struct shape shape)
{
    tensors_own(tensors, CATEGORY_parameters, dtype_bytes(dtype), name, shape);
}

void parameters_none(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    (void)layer;
    (void)dtype;
    (void)tensors;
}

void parameters_linear(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    const struct layer_fields *fields = &layer->fields;
    if (!fields->tied)
        add_parameter(tensors, dtype, "weight",
                      fields->transposed ? shape_of2(fields->in, fields->out)
                                         : shape_of2(fields->out, fields->in));
    else /* the layer owns no weight, but the bytes of its gradient must fit in 64 bits */
        checked_mul3(&tensors->checked, fields->in, fields->out, dtype_bytes(dtype));
    if (fields->bias)
        add_parameter(tensors, dtype, "bias", shape_of(fields->out));
}

/* The tensors of torch.nn.MultiheadAttention have these names. */
void parameters_projection(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    const struct layer_fields *fields = &layer->fields;
    add_parameter(tensors, dtype, "in_proj_weight", shape_of2(fields->out, fields->in));
    if (fields->bias)
        add_parameter(tensors, dtype, "in_proj_bias", shape_of(fields->out));
}

/* The weight of a transposed convolution has in and out swapped. */
void parameters_conv(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    const struct layer_fields *fields = &layer->fields;
    const bool swapped = layer->kind->shape == shape_transposed;
    struct shape weight = swapped ? shape_of2(fields->in, fields->out / fields->groups)
                                  : shape_of2(fields->out, fields->in / fields->groups);
    SIZES_FOR_EACH(i, layer)
    weight.dims[weight.rank++] = fields->kernel[i];
    add_parameter(tensors, dtype, "weight", weight);
    if (fields->bias)
        add_parameter(tensors, dtype, "bias", shape_of(fields->out));
}

static void add_affine(struct tensors *tensors, enum dtype dtype, struct shape shape, bool bias)
{
    add_parameter(tensors, dtype, "weight", shape);
    if (bias)
        add_parameter(tensors, dtype, "bias", shape);
}

void parameters_norm(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    if (layer->fields.affine)
        add_affine(tensors, dtype, shape_of(layer->fields.features), true);
}

/* Running mean and variance have the model's type. The batch counter is an integer. */
void parameters_batch_norm(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    const struct shape width = shape_of(layer->fields.features);
    parameters_norm(layer, dtype, tensors);
    if (!layer->fields.track_running_stats)
        return;
    tensors_own(tensors, CATEGORY_buffers, dtype_bytes(dtype), "running_mean", width);
    tensors_own(tensors, CATEGORY_buffers, dtype_bytes(dtype), "running_var", width);
    tensors_own(tensors, CATEGORY_buffers, DTYPE_INT64_BYTES, "num_batches_tracked",
                (struct shape){0});
}

void parameters_layer_norm(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    if (layer->fields.affine)
        add_affine(tensors, dtype, layer->fields.shape, layer->fields.bias);
}

void parameters_rms_norm(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    if (layer->fields.affine)
        add_affine(tensors, dtype, layer->fields.shape, false);
}

void parameters_embedding(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    const struct layer_fields *fields = &layer->fields;
    if (!fields->tied)
        add_parameter(tensors, dtype, "weight", shape_of2(fields->num, fields->dim));
    else
        checked_mul3(&tensors->checked, fields->num, fields->dim, dtype_bytes(dtype));
}

/* The tensor has the layer's own name. */
void parameters_parameter(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    add_parameter(tensors, dtype, NULL, layer->fields.shape);
}

/* A model's buffer is float32, whatever the model's type, or it is an int64 counter. */
void parameters_buffer(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    (void)dtype;
    tensors_own(tensors, CATEGORY_buffers,
                layer->fields.integer ? DTYPE_INT64_BYTES : DTYPE_FP32_BYTES, NULL,
                layer->fields.shape);
}

/*
 * One tensor has the gate and up weights of all experts of this rank, another has their down
 * weights. If the field `transposed` is set, a weight is in x out instead of out x in. Each has a
 * bias if the field `bias` is set.
 */
void parameters_experts(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    const uint64_t width = layer->input.dims[layer->input.rank - 1];
    const uint64_t ranks = layer->fields.ranks, hidden = layer->fields.hidden;
    const uint64_t num = layer->fields.num / ranks + (layer->fields.num % ranks > 0);
    const uint64_t both = checked_mul(&tensors->checked, 2, hidden);
    struct shape in = {.rank = 3, .dims = {num, both, width}};
    struct shape out = {.rank = 3, .dims = {num, width, hidden}};
    if (layer->fields.transposed) {
        in = (struct shape){.rank = 3, .dims = {num, width, both}};
        out = (struct shape){.rank = 3, .dims = {num, hidden, width}};
    }
    const bool bias = layer_gives(layer, FIELD_bias) && layer->fields.bias;
    add_parameter(tensors, dtype, "gate_up_proj", in);
    if (bias)
        add_parameter(tensors, dtype, "gate_up_proj_bias",
                      (struct shape){.rank = 2, .dims = {num, both}});
    add_parameter(tensors, dtype, "down_proj", out);
    if (bias)
        add_parameter(tensors, dtype, "down_proj_bias",
                      (struct shape){.rank = 2, .dims = {num, width}});
}

static void add_weights(struct tensors *tensors, enum dtype dtype, uint64_t elements,
                        uint64_t count)
{
    tensors_add(tensors, CATEGORY_parameters, dtype_bytes(dtype), elements, count);
}

/*
 * Each layer and direction has a weight of gates x hidden rows for the input, a weight of as many
 * rows for the state, and two biases.
 */
static void add_recurrent_parameters(const struct layer *layer, enum dtype dtype,
                                     struct tensors *tensors, uint64_t gates)
{
    const struct layer_fields *fields = &layer->fields;
    struct checked *checked = &tensors->checked;
    uint64_t directions = fields->bidirectional ? 2 : 1;
    uint64_t rows = checked_mul(checked, gates, fields->hidden);
    uint64_t below = checked_mul(checked, directions, fields->hidden);
    uint64_t more = (fields->layers - 1) * directions, all = fields->layers * directions;
    add_weights(tensors, dtype, checked_mul(checked, rows, fields->in), directions);
    if (more > 0)
        add_weights(tensors, dtype, checked_mul(checked, rows, below), more);
    add_weights(tensors, dtype, checked_mul(checked, rows, fields->hidden), all);
    if (fields->bias)
        add_weights(tensors, dtype, rows, 2 * all);
}

void parameters_lstm(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    add_recurrent_parameters(layer, dtype, tensors, 4);
}

void parameters_gru(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    add_recurrent_parameters(layer, dtype, tensors, 3);
}

void parameters_rnn(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    add_recurrent_parameters(layer, dtype, tensors, 1);
}
