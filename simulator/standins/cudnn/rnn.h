/* SPDX-License-Identifier: MIT */
/*
 * Recurrent layers: where each matrix and bias lies in the weight space, and what a call takes and keeps.
 * It must not know which of cuDNN's interfaces asks.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_RNN_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_RNN_H

#include <stddef.h>
#include <stdint.h>

#include "descriptor.h"

/* cudnnRNNMode_t. */
enum cudnn_rnn_cell { CUDNN_RNN_RELU, CUDNN_RNN_TANH, CUDNN_RNN_LSTM, CUDNN_RNN_GRU };

struct cudnn_rnn {
    int cell, data_type;
    int biases;     /* vectors for each gate: 0, 1 or 2 */
    int directions; /* 1 or 2 */
    int layers;
    int input_size, hidden_size;
    int projection_size; /* of what a step hands on; the same as hidden_size without projection */
    int is_input_skipped;
    int has_dropout; /* between layers */
};

struct cudnn_rnn_data {
    int data_type, steps, batch, vector_size;
};

/* Bytes of the whole weight space. */
size_t cudnn_rnn_weight_bytes(const struct cudnn_rnn *rnn);

struct cudnn_rnn_part {
    size_t offset_bytes;
    int rows, columns; /* 0: there is none */
};

/*
 * The matrix, and the bias, number id of a pseudo-layer (a layer's direction). 0; -1: no such number.
 *
 *   weight space: for each pseudo-layer: input matrices, recurrent matrices, projection | the same for the biases
 */
int cudnn_rnn_part(const struct cudnn_rnn *rnn, int pseudo_layer, int id,
                   struct cudnn_rnn_part *matrix, struct cudnn_rnn_part *bias);

/* A part's shape and its address among weights; no part: no dimensions and NULL. shape and address may be NULL. */
void cudnn_rnn_show(const struct cudnn_rnn *rnn, const struct cudnn_rnn_part *part,
                    const void *weights, struct cudnn_shape *shape, void **address);

/* What a training step keeps for its backward, and what a call takes for itself: as an H100 was seen to with
 * cuDNN 9, the former to the byte, the latter within 15 %. */
size_t cudnn_rnn_reserve_bytes(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data);
size_t cudnn_rnn_work_bytes(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data);

#endif
