/* SPDX-License-Identifier: MIT */
/*
 * What layers make besides their result, for layers.def: activations (masks, indices, statistics)
 * are saved for backward, temporaries end with the layer. It must not know whether autograd's graph
 * reaches the layer; the plan does.
 */
#include "layer_formulas.h"

static void add_saved(struct tensors *tensors, uint64_t element_bytes, uint64_t elements,
                      uint64_t count)
{
    tensors_add(tensors, CATEGORY_activations, element_bytes, elements, count);
}

static uint64_t element_bytes(const struct flow *flow)
{
    return dtype_bytes(flow->dtype);
}

void extra_none(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    (void)flow;
    (void)tensors;
}

void backward_none(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    extra_none(layer, flow, tensors);
}

/* Mean and inverse deviation of each channel; evaluation uses the running ones instead. */
void extra_batch_norm(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    if (!flow->training)
        return;
    add_saved(tensors, dtype_accumulate_bytes(flow->dtype), layer->fields.features, 2);
}

/* Mean and inverse deviation of each group of each sample. */
void extra_group_norm(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    uint64_t groups = checked_mul(&tensors->checked, flow->batch, layer->fields.groups);
    add_saved(tensors, dtype_accumulate_bytes(flow->dtype), groups, 2);
}

static uint64_t rows(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    return flow->input_elements / shape_elements(&layer->fields.shape, &tensors->checked);
}

void extra_layer_norm(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    add_saved(tensors, dtype_accumulate_bytes(flow->dtype), rows(layer, flow, tensors), 2);
}

void extra_rms_norm(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    add_saved(tensors, dtype_accumulate_bytes(flow->dtype), rows(layer, flow, tensors), 1);
}

/* The fused kernel keeps a mask of one byte for each element; the in-place form, scaled noise. */
void extra_dropout(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    if (!flow->training)
        return;
    if (!layer_keeps_storage(layer, true))
        add_saved(tensors, 1, flow->output_elements, 1);
    else if (layer->fields.inplace && layer->fields.p > 0)
        add_saved(tensors, element_bytes(flow), flow->output_elements, 1);
}

void extra_indices(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    add_saved(tensors, DTYPE_INT64_BYTES, flow->output_elements, 1);
}

/*
 * Initial states, and cuDNN's reserve space. Its size is not documented: counted is what backward
 * needs of each step, which is gate values, the cell, and the results of all layers but the last.
 */
static void add_recurrent_extra(const struct layer *layer, const struct flow *flow,
                                struct tensors *tensors, uint64_t gates, uint64_t states,
                                uint64_t cells)
{
    const struct layer_fields *fields = &layer->fields;
    struct checked *checked = &tensors->checked;
    uint64_t all = fields->layers * (fields->bidirectional ? 2 : 1);
    uint64_t state = checked_mul3(checked, all, flow->batch, fields->hidden);
    uint64_t steps = checked_mul(checked, state, flow->input.dims[0]);
    uint64_t between = steps / fields->layers * (fields->layers - 1);
    uint64_t reserve = checked_add(checked, checked_mul(checked, steps, gates + cells), between);
    add_saved(tensors, element_bytes(flow), state, states);
    if (flow->training)
        add_saved(tensors, element_bytes(flow), reserve, 1);
}

void extra_lstm(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    add_recurrent_extra(layer, flow, tensors, 4, 2, 1);
}

void extra_gru(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    add_recurrent_extra(layer, flow, tensors, 3, 1, 1);
}

void extra_rnn(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    add_recurrent_extra(layer, flow, tensors, 1, 1, 0);
}

/* --- losses: the target comes with the input --- */

/* Saved are log_softmax and the total weight. A target is one class index for C scores. */
void extra_cross_entropy(const struct layer *layer, const struct flow *flow,
                         struct tensors *tensors)
{
    (void)layer;
    tensors_add(tensors, CATEGORY_input, DTYPE_INT64_BYTES,
                flow->input_elements / flow->input.dims[0], 1);
    add_saved(tensors, element_bytes(flow), flow->input_elements, 1);
    add_saved(tensors, element_bytes(flow), 1, 1);
}

/* The gradient of log_softmax's result, besides that of the input. */
void backward_cross_entropy(const struct layer *layer, const struct flow *flow,
                            struct tensors *tensors)
{
    (void)layer;
    tensors_add(tensors, CATEGORY_temporaries, element_bytes(flow), flow->input_elements, 1);
}

/* Squared differences before they are averaged. */
void extra_mse(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    tensors_add(tensors, CATEGORY_input, element_bytes(flow), flow->input_elements, 1);
    tensors_add(tensors, CATEGORY_temporaries, element_bytes(flow), flow->input_elements, 1);
}
