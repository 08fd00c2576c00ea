/* SPDX-License-Identifier: MIT */
/* Weight, work and reserve space of recurrent layers. See rnn.h. */
#include "rnn.h"

/* The number of input matrices, which is also the number of recurrent matrices. */
static int gates_of(const struct cudnn_rnn *rnn)
{
    return rnn->cell == CUDNN_RNN_LSTM ? 4 : rnn->cell == CUDNN_RNN_GRU ? 3 : 1;
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

/* Elements of one state of a layer, over all directions and steps. */
static size_t state_elements(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data)
{
    return (size_t)rnn->directions * (size_t)rnn->hidden_size * (size_t)data->steps *
           (size_t)data->batch;
}

/* The reserve space holds the gates and states of each layer, the inputs of all layers after the
 * first, and one bit for each element that dropout may drop. */
size_t cudnn_rnn_reserve_bytes(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data)
{
    enum { HEADER_BYTES = 256, BITS = 8 };
    static const size_t states_kept[] = {
        [CUDNN_RNN_RELU] = 1, [CUDNN_RNN_TANH] = 1, [CUDNN_RNN_LSTM] = 5, [CUDNN_RNN_GRU] = 6};
    const size_t state = state_elements(rnn, data), layers = (size_t)rnn->layers;
    size_t elements = layers * states_kept[rnn->cell] * state + (layers - 1) * state;
    size_t bytes = HEADER_BYTES;
    if (has_projection(rnn))
        elements +=
            layers * (state + state / (size_t)rnn->hidden_size * (size_t)rnn->projection_size);
    if (rnn->has_dropout)
        bytes += (layers - 1) * state / BITS;
    return bytes + elements * cudnn_element_bytes(rnn->data_type);
}

/* The work space holds a copy of the weights in another order, a buffer for a product in each layer
 * and direction, and the states of one layer. */
size_t cudnn_rnn_work_bytes(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data)
{
    enum { PRODUCT_BYTES = 8 << 20 };
    size_t states = rnn->cell == CUDNN_RNN_LSTM || rnn->layers == 1 ? 6 : 5;
    if (rnn->cell == CUDNN_RNN_LSTM && rnn->has_dropout && rnn->layers > 1)
        states++;
    return (size_t)(rnn->layers * rnn->directions) * PRODUCT_BYTES + cudnn_rnn_weight_bytes(rnn) +
           states * state_elements(rnn, data) * cudnn_element_bytes(rnn->data_type);
}
