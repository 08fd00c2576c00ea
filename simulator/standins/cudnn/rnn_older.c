/* SPDX-License-Identifier: MIT */
/*
 * Recurrent layers in the interface of cuDNN before 9, which PyTorch used until 2.2. Each call
 * passes the type and size of the input. rnn_space.c computes sizes.
 */
#include "rnn.h"

#include "dropout.h"
#include "simulator/standins/standin.h"
#include "status.h"

STANDIN(int, cudnnSetRNNDescriptor_v6,
        (void *handle, struct cudnn_rnn *rnn, int hidden_size, int layers,
         const struct cudnn_dropout *dropout, int input_mode, int direction, int cell,
         int algorithm, int math_precision))
{
    (void)handle, (void)algorithm, (void)math_precision;
    if (!rnn || hidden_size < 1 || layers < 1 || cell < 0 || cell > RNN_GRU)
        return CUDNN_BAD_PARAM;
    *rnn = (struct cudnn_rnn){
        .cell = (enum rnn_cell)cell,
        .biases = 2,
        .directions = direction ? 2 : 1,
        .layers = layers,
        .hidden_size = hidden_size,
        .projection_size = hidden_size,
        .is_input_skipped = input_mode,
        .has_dropout = dropout && dropout->probability > 0,
    };
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnSetRNNProjectionLayers,
        (void *handle, struct cudnn_rnn *rnn, int projection_size, int output_size))
{
    (void)handle, (void)output_size;
    rnn->projection_size = projection_size ? projection_size : rnn->hidden_size;
    return CUDNN_SUCCESS;
}

/* Takes type and size of the input from one step's tensor, whose dimensions are batch, size, 1. */
static struct cudnn_rnn with_input(const struct cudnn_rnn *rnn, const struct cudnn_shape *input)
{
    struct cudnn_rnn complete = *rnn;
    complete.data_type = input->data_type;
    complete.input_size = input->dimensions[1];
    return complete;
}

STANDIN(int, cudnnGetRNNParamsSize,
        (void *handle, const struct cudnn_rnn *rnn, const struct cudnn_shape *input, size_t *bytes,
         int data_type))
{
    struct cudnn_rnn complete = with_input(rnn, input);
    (void)handle;
    complete.data_type = data_type;
    *bytes = cudnn_rnn_weight_bytes(&complete);
    return CUDNN_SUCCESS;
}

#define SPACE(name, bytes_of)                                                                      \
    STANDIN(int, name,                                                                             \
            (void *handle, const struct cudnn_rnn *rnn, int steps,                                 \
             struct cudnn_shape *const *inputs, size_t *bytes))                                    \
    {                                                                                              \
        (void)handle;                                                                              \
        if (steps < 1)                                                                             \
            return CUDNN_BAD_PARAM;                                                                \
        const struct cudnn_rnn complete = with_input(rnn, inputs[0]);                              \
        const struct cudnn_rnn_data data = {complete.data_type, steps, inputs[0]->dimensions[0],   \
                                            complete.input_size};                                  \
        *bytes = bytes_of(&complete, &data);                                                       \
        return CUDNN_SUCCESS;                                                                      \
    }
SPACE(cudnnGetRNNWorkspaceSize, cudnn_rnn_work_bytes)
SPACE(cudnnGetRNNTrainingReserveSize, cudnn_rnn_reserve_bytes)

#define PART(name, what)                                                                           \
    STANDIN(int, name,                                                                             \
            (void *handle, const struct cudnn_rnn *rnn, int pseudo_layer,                          \
             const struct cudnn_shape *input, void *filter, const void *weights, int id,           \
             struct cudnn_shape *shape, void **address))                                           \
    {                                                                                              \
        const struct cudnn_rnn complete = with_input(rnn, input);                                  \
        struct cudnn_rnn_part matrix, bias;                                                        \
        (void)handle, (void)filter;                                                                \
        if (cudnn_rnn_part(&complete, pseudo_layer, id, &matrix, &bias))                           \
            return CUDNN_BAD_PARAM;                                                                \
        cudnn_rnn_show(&complete, &what, weights, shape, address);                                 \
        return CUDNN_SUCCESS;                                                                      \
    }
PART(cudnnGetRNNLinLayerMatrixParams, matrix)
PART(cudnnGetRNNLinLayerBiasParams, bias)
