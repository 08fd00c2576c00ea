/* SPDX-License-Identifier: MIT */
/* Weight, work and reserve space of recurrent layers. See rnn.h. */
#include "rnn.h"

/* The number of input matrices, which is also the number of recurrent matrices. */
static int gates_of(const struct cudnn_rnn *rnn)
{
    return rnn->cell == RNN_LSTM ? 4 : rnn->cell == RNN_GRU ? 3 : 1;
}

static int has_projection(const struct cudnn_rnn *rnn)
{
    return rnn->projection_size != rnn->hidden_size;
}

static size_t matrix_elements(const struct cudnn_rnn_part *matrix)
{
    return (size_t)matrix->rows * (size_t)matrix->columns;
}

/* The shape of matrix id of a layer. The projection follows the input and recurrent matrices. */
static struct cudnn_rnn_part shape_of(const struct cudnn_rnn *rnn, int layer, int id)
{
    const int gates = gates_of(rnn);
    struct cudnn_rnn_part matrix = {0, rnn->hidden_size, rnn->projection_size};
    if (id >= 2 * gates)
        return (struct cudnn_rnn_part){0, rnn->projection_size, rnn->hidden_size};
    if (id < gates && layer > 0)
        matrix.columns = rnn->projection_size * rnn->directions;
    if (id < gates && layer == 0)
        matrix.columns = rnn->input_size;
    if (id < gates && layer == 0 && rnn->is_input_skipped)
        matrix = (struct cudnn_rnn_part){0, 0, 0};
    return matrix;
}

static int matrices_of(const struct cudnn_rnn *rnn)
{
    return 2 * gates_of(rnn) + (has_projection(rnn) ? 1 : 0);
}

static int biases_of(const struct cudnn_rnn *rnn)
{
    return rnn->biases * gates_of(rnn);
}

/* Elements of all matrices of a pseudo-layer before matrix id. */
static size_t elements_before(const struct cudnn_rnn *rnn, int pseudo_layer, int id)
{
    size_t elements = 0;
    for (int before = 0; before <= pseudo_layer; before++) {
        const int end = before < pseudo_layer ? matrices_of(rnn) : id;
        for (int i = 0; i < end; i++) {
            const struct cudnn_rnn_part matrix = shape_of(rnn, before / rnn->directions, i);
            elements += matrix_elements(&matrix);
        }
    }
    return elements;
}

size_t cudnn_rnn_weight_bytes(const struct cudnn_rnn *rnn)
{
    const int pseudo_layers = rnn->layers * rnn->directions;
    const size_t biases = (size_t)pseudo_layers * (size_t)biases_of(rnn) * (size_t)rnn->hidden_size;
    return (elements_before(rnn, pseudo_layers, 0) + biases) * cudnn_element_bytes(rnn->data_type);
}

int cudnn_rnn_part(const struct cudnn_rnn *rnn, int pseudo_layer, int id,
                   struct cudnn_rnn_part *matrix, struct cudnn_rnn_part *bias)
{
    const size_t bytes = cudnn_element_bytes(rnn->data_type);
    const int pseudo_layers = rnn->layers * rnn->directions, biases = biases_of(rnn);
    if (pseudo_layer < 0 || pseudo_layer >= pseudo_layers || id < 0 || id >= matrices_of(rnn))
        return -1;
    *matrix = shape_of(rnn, pseudo_layer / rnn->directions, id);
    matrix->offset_bytes = elements_before(rnn, pseudo_layer, id) * bytes;
    *bias = (struct cudnn_rnn_part){0, 0, 0};
    if (id < biases)
        *bias = (struct cudnn_rnn_part){
            (elements_before(rnn, pseudo_layers, 0) +
             (size_t)(pseudo_layer * biases + id) * (size_t)rnn->hidden_size) *
                bytes,
            rnn->hidden_size, 1};
    return 0;
}

void cudnn_rnn_show(const struct cudnn_rnn *rnn, const struct cudnn_rnn_part *part,
                    const void *weights, struct cudnn_shape *shape, void **address)
{
    if (shape && part->rows)
        cudnn_shape_set_matrix(shape, rnn->data_type, part->rows, part->columns);
    else if (shape)
        *shape = (struct cudnn_shape){.data_type = rnn->data_type};
    if (address)
        *address = part->rows ? (void *)((uintptr_t)weights + part->offset_bytes) : NULL;
}

static struct rnn_call call_of(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data)
{
    return (struct rnn_call){.cell = rnn->cell,
                             .has_dropout = rnn->has_dropout,
                             .layers = (uint64_t)rnn->layers,
                             .directions = (uint64_t)rnn->directions,
                             .hidden_size = (uint64_t)rnn->hidden_size,
                             .projection_size = (uint64_t)rnn->projection_size,
                             .steps = (uint64_t)data->steps,
                             .batch = (uint64_t)data->batch,
                             .element_bytes = cudnn_element_bytes(rnn->data_type),
                             .weight_bytes = cudnn_rnn_weight_bytes(rnn)};
}

size_t cudnn_rnn_reserve_bytes(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data)
{
    const struct rnn_call call = call_of(rnn, data);
    return rnn_reserve_bytes(&call);
}

size_t cudnn_rnn_work_bytes(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data)
{
    const struct rnn_call call = call_of(rnn, data);
    return rnn_work_bytes(&call);
}
