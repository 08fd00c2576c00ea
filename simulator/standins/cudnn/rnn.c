/* SPDX-License-Identifier: MIT */
/* Recurrent layers in the interface of cuDNN 8 and 9. rnn_space.c computes sizes. */
#include "rnn.h"

#include "dropout.h"
#include "simulator/standins/standin.h"
#include "status.h"

STANDIN(int, cudnnCreateRNNDescriptor, (struct cudnn_rnn * *created))
{
    *created = calloc(1, sizeof **created);
    return *created ? CUDNN_SUCCESS : CUDNN_HOST_ALLOCATION_FAILED;
}
STANDIN_DESTROY(cudnnDestroyRNNDescriptor)

STANDIN(int, cudnnCreateRNNDataDescriptor, (struct cudnn_rnn_data * *created))
{
    *created = calloc(1, sizeof **created);
    return *created ? CUDNN_SUCCESS : CUDNN_HOST_ALLOCATION_FAILED;
}
STANDIN_DESTROY(cudnnDestroyRNNDataDescriptor)

enum bias_mode { NO_BIAS, INPUT_BIAS, DOUBLE_BIAS, STATE_BIAS };

STANDIN(int, cudnnSetRNNDescriptor_v8,
        (struct cudnn_rnn * rnn, int algorithm, int cell, int bias_mode, int direction,
         int input_mode, int data_type, int math_precision, int math_type, int32_t input_size,
         int32_t hidden_size, int32_t projection_size, int32_t layers,
         const struct cudnn_dropout *dropout, uint32_t flags))
{
    (void)algorithm, (void)math_precision, (void)math_type, (void)flags;
    if (!rnn || hidden_size < 1 || layers < 1 || cell < 0 || cell > RNN_GRU)
        return CUDNN_BAD_PARAM;
    *rnn = (struct cudnn_rnn){
        .cell = (enum rnn_cell)cell,
        .data_type = data_type,
        .biases = bias_mode == NO_BIAS       ? 0
                  : bias_mode == DOUBLE_BIAS ? 2
                                             : 1,
        .directions = direction ? 2 : 1,
        .layers = layers,
        .input_size = input_size,
        .hidden_size = hidden_size,
        .projection_size = projection_size ? projection_size : hidden_size,
        .is_input_skipped = input_mode,
        .has_dropout = dropout && dropout->probability > 0,
    };
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnSetRNNDataDescriptor,
        (struct cudnn_rnn_data * data, int data_type, int layout, int steps, int batch,
         int vector_size, const int *lengths, void *padding))
{
    (void)layout, (void)lengths, (void)padding;
    if (!data)
        return CUDNN_BAD_PARAM;
    *data = (struct cudnn_rnn_data){data_type, steps, batch, vector_size};
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnGetRNNTempSpaceSizes,
        (void *handle, const struct cudnn_rnn *rnn, int is_training,
         const struct cudnn_rnn_data *data, size_t *work_bytes, size_t *reserve_bytes))
{
    (void)handle;
    if (!rnn || !data)
        return CUDNN_BAD_PARAM;
    if (work_bytes)
        *work_bytes = cudnn_rnn_work_bytes(rnn, data);
    if (reserve_bytes)
        *reserve_bytes = is_training ? cudnn_rnn_reserve_bytes(rnn, data) : 0;
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnGetRNNWeightSpaceSize, (void *handle, const struct cudnn_rnn *rnn, size_t *bytes))
{
    (void)handle;
    *bytes = cudnn_rnn_weight_bytes(rnn);
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnGetRNNWeightParams,
        (void *handle, const struct cudnn_rnn *rnn, int32_t pseudo_layer, size_t weight_bytes,
         const void *weights, int32_t id, struct cudnn_shape *matrix_shape, void **matrix_address,
         struct cudnn_shape *bias_shape, void **bias_address))
{
    struct cudnn_rnn_part matrix, bias;
    (void)handle, (void)weight_bytes;
    if (!rnn || cudnn_rnn_part(rnn, pseudo_layer, id, &matrix, &bias))
        return CUDNN_BAD_PARAM;
    cudnn_rnn_show(rnn, &matrix, weights, matrix_shape, matrix_address);
    cudnn_rnn_show(rnn, &bias, weights, bias_shape, bias_address);
    return CUDNN_SUCCESS;
}
