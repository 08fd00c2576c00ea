/* SPDX-License-Identifier: MIT */
/*
 * Parameters and buffers of layers, for layers.def, in the order in which PyTorch registers them:
 * moving a model to the device allocates them in this order. It must not know batches.
 */
#include "layer_formulas.h"

static void add_parameter(struct tensors *tensors, enum dtype dtype, uint64_t elements,
                          uint64_t count)
{
    tensors_add(tensors, CATEGORY_parameters, dtype_bytes(dtype), elements, count);
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
    add_parameter(tensors, dtype, checked_mul(&tensors->checked, fields->in, fields->out), 1);
    if (fields->bias)
        add_parameter(tensors, dtype, fields->out, 1);
}

/* The weight of a transposed convolution has in and out swapped: the same number of elements. */
void parameters_conv(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    const struct layer_fields *fields = &layer->fields;
    uint64_t weights = checked_mul(&tensors->checked, fields->out, fields->in / fields->groups);
    SIZES_FOR_EACH(i, layer)
    weights = checked_mul(&tensors->checked, weights, fields->kernel[i]);
    add_parameter(tensors, dtype, weights, 1);
    if (fields->bias)
        add_parameter(tensors, dtype, fields->out, 1);
}

void parameters_norm(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    if (layer->fields.affine)
        add_parameter(tensors, dtype, layer->fields.features, 2);
}

/* Running mean and variance follow the model's type; the batch counter is an integer. */
void parameters_batch_norm(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    parameters_norm(layer, dtype, tensors);
    if (!layer->fields.track_running_stats)
        return;
    tensors_add(tensors, CATEGORY_buffers, dtype_bytes(dtype), layer->fields.features, 2);
    tensors_add(tensors, CATEGORY_buffers, DTYPE_INT64_BYTES, 1, 1);
}

void parameters_layer_norm(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    uint64_t elements = shape_elements(&layer->fields.shape, &tensors->checked);
    if (layer->fields.affine)
        add_parameter(tensors, dtype, elements, layer->fields.bias ? 2 : 1);
}

void parameters_rms_norm(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    if (layer->fields.affine)
        add_parameter(tensors, dtype, shape_elements(&layer->fields.shape, &tensors->checked), 1);
}

void parameters_embedding(const struct layer *layer, enum dtype dtype, struct tensors *tensors)
{
    add_parameter(tensors, dtype,
                  checked_mul(&tensors->checked, layer->fields.num, layer->fields.dim), 1);
}

/* For each layer and direction: gates x hidden rows for input and state each, and two biases. */
static void add_recurrent_parameters(const struct layer *layer, enum dtype dtype,
                                     struct tensors *tensors, uint64_t gates)
{
    const struct layer_fields *fields = &layer->fields;
    struct checked *checked = &tensors->checked;
    uint64_t directions = fields->bidirectional ? 2 : 1;
    uint64_t rows = checked_mul(checked, gates, fields->hidden);
    uint64_t below = checked_mul(checked, directions, fields->hidden);
    uint64_t more = (fields->layers - 1) * directions, all = fields->layers * directions;
    add_parameter(tensors, dtype, checked_mul(checked, rows, fields->in), directions);
    if (more > 0)
        add_parameter(tensors, dtype, checked_mul(checked, rows, below), more);
    add_parameter(tensors, dtype, checked_mul(checked, rows, fields->hidden), all);
    if (fields->bias)
        add_parameter(tensors, dtype, rows, 2 * all);
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
