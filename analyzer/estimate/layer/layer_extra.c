/* SPDX-License-Identifier: MIT */
/*
 * Adds the tensors that layers make besides their result, for layers.def. Activations (masks,
 * indices, statistics) are saved for backward. Temporaries are freed when the layer ends. The plan
 * decides whether autograd's graph reaches the layer.
 */
#include "layer_formulas.h"
#include "layer_workspace.h"

/*
 * In float32, PyTorch's memory-efficient kernel saves one number for each query. It rounds the
 * number of queries up to a multiple of this.
 */
#define EFFICIENT_QUERIES 32

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

/* The model file says how many bytes backward needs besides inputs and result. */
void extra_operation(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    if (layer->fields.kept)
        add_saved(tensors, layer->fields.kept, flow->batch, 1);
}

void backward_none(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    extra_none(layer, flow, tensors);
}

/* Training saves the mean and the inverse deviation of each channel. Evaluation uses the running
 * values instead. */
void extra_batch_norm(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    if (!flow->training)
        return;
    add_saved(tensors, dtype_accumulate_bytes(flow->dtype), layer->fields.features, 2);
}

/* Saves the mean and the inverse deviation of each group of each sample, in the type of the
 * input. */
void extra_group_norm(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    uint64_t groups = checked_mul(&tensors->checked, flow->batch, layer->fields.groups);
    add_saved(tensors, element_bytes(flow), groups, 2);
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

/*
 * RMS norm composed of operations in float32. Saved are the input in float32, the inverse
 * deviation, and the normalized value, which the weight multiplies, in the model's type. If the
 * input is float32 already, there is no copy of it to save.
 */
void extra_rms_eager(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    const uint64_t own = dtype_bytes(flow->input_dtype);
    if (own < DTYPE_FP32_BYTES)
        add_saved(tensors, DTYPE_FP32_BYTES, flow->input_elements, 1);
    add_saved(tensors, dtype_accumulate_bytes(flow->dtype), rows(layer, flow, tensors), 1);
    if (!layer->frozen) /* the gradient of the weight needs it */
        add_saved(tensors, own, flow->output_elements, 1);
}

/* Does the same as extra_rms_eager, but the weight multiplies a value in float32, so that value is
 * saved in float32. */
void extra_rms_wide(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    const uint64_t wide = dtype_accumulate_bytes(flow->dtype);
    if (dtype_bytes(flow->input_dtype) < DTYPE_FP32_BYTES)
        add_saved(tensors, DTYPE_FP32_BYTES, flow->input_elements, 1);
    add_saved(tensors, wide, rows(layer, flow, tensors), 1);
    if (!layer->frozen)
        add_saved(tensors, wide, flow->output_elements, 1);
}

static void add_temporary(struct tensors *tensors, uint64_t element_bytes, uint64_t elements,
                          uint64_t count)
{
    tensors_add(tensors, CATEGORY_temporaries, element_bytes, elements, count);
}

/* Makes the gradients of the normalized value and of the square, both in float32. */
void backward_rms_eager(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    add_temporary(tensors, dtype_accumulate_bytes(flow->dtype), flow->input_elements, 2);
}

/* 0.5 x (1 + tanh(…)), operation by operation. Saved are 0.5 x, tanh's result, and 1 + tanh's
 * result. */
void extra_new_gelu(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    add_saved(tensors, dtype_bytes(flow->input_dtype), flow->output_elements, 1);
    add_saved(tensors, element_bytes(flow), flow->output_elements, 2);
}

/*
 * 0.5 x (1 + tanh(0.8 x (1 + 0.04 x x))). Saved are tanh's result and the factors of three
 * products; one of the factors is x.
 */
void extra_fast_gelu(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    add_saved(tensors, element_bytes(flow), flow->output_elements, 6);
}

/* x sigmoid(1.7 x). The result of sigmoid is saved. */
void extra_quick_gelu(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    add_saved(tensors, element_bytes(flow), flow->output_elements, 1);
}

void backward_new_gelu(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    add_temporary(tensors, element_bytes(flow), flow->output_elements, 1);
}

/* x cos + turned(x) sin. Nothing of x is saved, because cos and sin need no gradient. */
void extra_rotary(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    add_temporary(tensors, element_bytes(flow), flow->output_elements, 2);
}

void backward_rotary(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    extra_rotary(layer, flow, tensors);
}

/* --- sums over rows --- */

/*
 * Bytes of the buffer of PyTorch's reduction kernel (ATen/native/cuda/Reduce.cuh). The
 * kernel splits a long sum over rows among blocks of threads, which add their sums in that
 * buffer. A thread sums four columns, and has at least 16 rows. A block has 32 by 4 threads.
 * There are as many blocks as the card can run at once.
 */
static uint64_t reduction_bytes(uint64_t rows, uint64_t columns, struct checked *checked)
{
    enum {
        PROCESSORS = 108,
        THREADS = 2048,
        BLOCK = 128,
        LANES = 32,
        VECTOR = 4,
        ROWS_LEAST = 16,
        ROWS_MOST = 256
    };
    const uint64_t by_block = rows / (BLOCK / LANES),
                   across = (columns / VECTOR + LANES - 1) / LANES;
    const uint64_t room = PROCESSORS * (THREADS / BLOCK);
    if (columns % VECTOR != 0 || columns / VECTOR < LANES || by_block < ROWS_MOST || across > room)
        return 0;
    const uint64_t fill = (room + across - 1) / across;
    const uint64_t least = (by_block + ROWS_LEAST - 1) / ROWS_LEAST;
    const uint64_t most = (by_block + ROWS_MOST - 1) / ROWS_MOST;
    uint64_t blocks = fill < least ? fill : least;
    blocks = blocks > most ? blocks : most;
    return blocks > 1 ? checked_mul3(checked, columns * DTYPE_FP32_BYTES, blocks, LANES * VECTOR)
                      : 0;
}

/* Adds the buffer for the gradient of the bias, which is a sum over all rows. */
void backward_linear(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    const uint64_t columns = layer->fields.out;
    if (layer->fields.bias && !layer->frozen)
        add_temporary(tensors, 1,
                      reduction_bytes(flow->output_elements / columns, columns, &tensors->checked),
                      1);
}

/* The gradient of an expanded input is first made in the size of the result, then summed up. */
void backward_mul(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    const uint64_t whole = shape_elements(&flow->output, &tensors->checked);
    for (size_t i = 0; i < layer->input_count; i++) {
        if (shape_elements(layer->inputs[i], &tensors->checked) < whole) {
            add_temporary(tensors, element_bytes(flow), flow->output_elements, 1);
            return;
        }
    }
}

/* --- experts --- */

/*
 * Returns the number of rows in all experts. Without a capacity, it is tokens x experts of each
 * token (k N). With a capacity c, each of E experts has room for ceil(k N c / E) rows, so the
 * number is E times that (GShard, arXiv 2006.16668, 2.2). A rank gets as many rows from other ranks
 * as it sends.
 */
static uint64_t expert_rows(const struct layer *layer, const struct flow *flow,
                            struct tensors *tensors)
{
    const uint64_t width = flow->input.dims[flow->input.rank - 1];
    const uint64_t all =
        checked_mul(&tensors->checked, flow->input_elements / width, layer->fields.active);
    const uint64_t num = layer->fields.num, capacity = layer->fields.capacity;
    if (capacity == 0)
        return all;
    const uint64_t share = checked_mul(&tensors->checked, all, capacity);
    const uint64_t room = share / (100 * num) + (share % (100 * num) > 0);
    return checked_mul(&tensors->checked, num, room);
}

/* Adds one tensor. A brief one is freed when the next tensor of the list is made. */
static void add_one(struct tensors *tensors, enum category category, uint64_t element_bytes,
                    uint64_t elements, bool brief)
{
    tensors_add(tensors, category, element_bytes, elements, 1);
    tensors->items[tensors->count - 1].brief = brief;
}

/*
 * Without capacity, a token's row exists once for each of its experts. Saved are these rows, gate
 * and up, the activation, its product with up, the result before it is weighted, the scores in
 * float32, and the experts' numbers. The rows and the product are needed only for the gradients of
 * the weights.
 */
void extra_experts(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    struct checked *checked = &tensors->checked;
    const uint64_t width = flow->input.dims[flow->input.rank - 1], hidden = layer->fields.hidden;
    const uint64_t all = expert_rows(layer, flow, tensors), bytes = element_bytes(flow);
    const enum category read = layer->frozen ? CATEGORY_temporaries : CATEGORY_activations;
    add_one(tensors, read, bytes, checked_mul(checked, all, width), layer->frozen);
    add_saved(tensors, bytes, checked_mul3(checked, all, 2, hidden), 1);
    add_saved(tensors, bytes, checked_mul(checked, all, hidden), 1);
    add_one(tensors, read, bytes, checked_mul(checked, all, hidden), layer->frozen);
    add_saved(tensors, bytes, checked_mul(checked, all, width), 1);
    add_saved(tensors, DTYPE_FP32_BYTES,
              checked_mul(checked, flow->input_elements / width, layer->fields.num), 1);
    add_saved(tensors, DTYPE_INT64_BYTES, all, 2);
    add_temporary(tensors, bytes, checked_mul(checked, all, width), 1);
    if (layer->fields.ranks > 1) /* the rows sent to other ranks, and those that come back */
        add_temporary(tensors, bytes, checked_mul(checked, all, width), 2);
    /* one product for all rows, in which each row has copies of its expert's two weights */
    for (uint64_t parts = flow->writes ? 2 : 0; parts > 0; parts--)
        add_temporary(tensors, bytes,
                      checked_mul3(checked, all, width, checked_mul(checked, parts, hidden)), 1);
}

/* The gradient of gate and up together, and the gradient of the rows; see experts_backward. */
void backward_experts(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    struct checked *checked = &tensors->checked;
    const uint64_t width = flow->input.dims[flow->input.rank - 1];
    const uint64_t all = expert_rows(layer, flow, tensors), bytes = element_bytes(flow);
    add_temporary(tensors, bytes, checked_mul3(checked, all, 2, layer->fields.hidden), 1);
    add_temporary(tensors, bytes, checked_mul(checked, all, width), 1);
}

/* --- attention --- */

/* Returns the number of scores in all heads: batch x heads x rows of queries x rows of keys. */
static uint64_t scores(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    struct checked *checked = &tensors->checked;
    const uint64_t keys = layer->inputs[layer->input_count == 3]->dims[0];
    return checked_mul(checked, checked_mul(checked, flow->batch, layer->fields.heads),
                       checked_mul(checked, flow->input.dims[0], keys));
}

static bool drops_scores(const struct layer *layer, const struct flow *flow)
{
    return flow->training && layer_gives(layer, FIELD_p) && layer->fields.p > 0;
}

static uint64_t softmax_bytes(const struct layer *layer, const struct flow *flow)
{
    const uint64_t own = element_bytes(flow), wide = dtype_accumulate_bytes(flow->dtype);
    return layer->fields.wide || flow->autocast ? wide : own;
}

/*
 * A fused kernel (flash, memory-efficient) saves its result and the logarithm of each row's sum.
 * If the heads of the queries lie one after the other, flash gives its result the same layout, and
 * the result is copied into rows.
 */
static void add_fused(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    uint64_t queries = flow->input.dims[0];
    if (element_bytes(flow) == DTYPE_FP32_BYTES)
        queries = checked_add(&tensors->checked, queries, EFFICIENT_QUERIES - 1) /
                  EFFICIENT_QUERIES * EFFICIENT_QUERIES;
    add_saved(tensors, DTYPE_FP32_BYTES,
              checked_mul3(&tensors->checked, flow->batch, layer->fields.heads, queries), 1);
    if (layer->fields.partial && element_bytes(flow) < DTYPE_FP32_BYTES)
        add_saved(tensors, element_bytes(flow), flow->output_elements, 1);
}

/*
 * A composed attention makes the scores, the scaled scores, and their float32 copy if the softmax
 * is float32. It saves the softmax's result, the copy of that in the model's type if the softmax is
 * wider, and with dropout its result and the mask. If tanh caps the scores, tanh's result is also
 * saved.
 */
void extra_attention(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    if (!layer->fields.eager) {
        add_fused(layer, flow, tensors);
        return;
    }
    const uint64_t all = scores(layer, flow, tensors), own = element_bytes(flow);
    const uint64_t softmax = softmax_bytes(layer, flow);
    const bool drops = drops_scores(layer, flow);
    const enum category scored = flow->old_softmax ? CATEGORY_activations : CATEGORY_temporaries;
    add_one(tensors, CATEGORY_temporaries, own, all, true);
    if (softmax > own)
        add_one(tensors, CATEGORY_temporaries, own, all, false);
    add_one(tensors, scored, softmax, all, true);
    if (layer->fields.capped)
        add_saved(tensors, own, all, 1);
    add_saved(tensors, softmax, all, 1);
    if (drops || softmax > own)
        add_saved(tensors, own, all, 1);
    if (drops)
        add_saved(tensors, 1, all, 1);
}

/* Adds a gradient in the model's type, and one in the softmax's type: attention_backward in loop.h
 * makes several of each. */
void backward_attention(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    if (!layer->fields.eager)
        return;
    add_temporary(tensors, element_bytes(flow), scores(layer, flow, tensors), 1);
    add_temporary(tensors, softmax_bytes(layer, flow), scores(layer, flow, tensors), 1);
}

/* The fused kernel saves a mask with one byte for each element. The in-place form saves scaled
 * noise. */
void extra_dropout(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    if (!flow->training)
        return;
    if (!layer_keeps_storage(layer, true))
        add_saved(tensors, 1, flow->output_elements, 1);
    else if (layer->fields.inplace && layer->fields.p > 0)
        add_saved(tensors, element_bytes(flow), flow->output_elements, 1);
}

/* Saves one value for each sample, which says whether the sample's branch is dropped. */
void extra_noise(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    if (!layer_keeps_storage(layer, flow->training))
        add_saved(tensors, element_bytes(flow), flow->batch, 1);
}

void extra_indices(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    add_saved(tensors, DTYPE_INT64_BYTES, flow->output_elements, 1);
}

/* Adds the initial states (h, and for LSTM c), and in training cuDNN's reserve space. */
void extra_recurrent(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    const struct rnn_call call = layer_rnn_call(layer, flow);
    const uint64_t state = checked_mul3(&tensors->checked, call.layers * call.directions,
                                        flow->batch, call.hidden_size);
    add_saved(tensors, element_bytes(flow), state, call.cell == RNN_LSTM ? 2 : 1);
    if (flow->training)
        add_saved(tensors, 1, rnn_reserve_bytes(&call), 1);
}

/* --- losses: the target comes with the input --- */

/*
 * Returns whether autocast makes a float32 copy of log_softmax's result for nll_loss. It does if
 * log_softmax returns a 16-bit type.
 */
static bool casts_likelihood(const struct flow *flow)
{
    return flow->autocast && dtype_bytes(flow->input_dtype) < DTYPE_FP32_BYTES;
}

/* The target is an integer for each row of scores. Saved are log_softmax and the total weight. */
static void add_cross_entropy(const struct flow *flow, struct tensors *tensors, uint64_t classes)
{
    const uint64_t own = dtype_bytes(flow->input_dtype);
    tensors_add(tensors, CATEGORY_input, DTYPE_INT64_BYTES, flow->input_elements / classes, 1);
    add_saved(tensors, own, flow->input_elements, 1);
    if (casts_likelihood(flow))
        add_saved(tensors, DTYPE_FP32_BYTES, flow->input_elements, 1);
    add_saved(tensors, own, 1, 1);
}

/* Adds one class for the C scores of each sample. */
void extra_cross_entropy(const struct layer *layer, const struct flow *flow,
                         struct tensors *tensors)
{
    (void)layer;
    add_cross_entropy(flow, tensors, flow->input.dims[0]);
}

/* Each token has a row of scores, so the classes are the last dimension. */
void extra_token_loss(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    add_cross_entropy(flow, tensors, flow->input.dims[flow->input.rank - 1]);
}

/*
 * Adds the gradient of log_softmax's result. If it is a float32 copy, it is freed before the
 * gradient of the input is made.
 */
void backward_cross_entropy(const struct layer *layer, const struct flow *flow,
                            struct tensors *tensors)
{
    const uint64_t own = dtype_bytes(flow->input_dtype);
    (void)layer;
    add_temporary(tensors, casts_likelihood(flow) ? DTYPE_FP32_BYTES - own : own,
                  flow->input_elements, 1);
}

/* Adds the squared differences before they are averaged. */
void extra_mse(const struct layer *layer, const struct flow *flow, struct tensors *tensors)
{
    (void)layer;
    tensors_add(tensors, CATEGORY_input, element_bytes(flow), flow->input_elements, 1);
    tensors_add(tensors, CATEGORY_temporaries, element_bytes(flow), flow->input_elements, 1);
}
