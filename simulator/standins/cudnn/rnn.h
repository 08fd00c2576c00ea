/* SPDX-License-Identifier: MIT */
/*
 * Recurrent layers: the place of each matrix and bias in the weight space, and the sizes of work
 * and reserve space. Both of cuDNN's interfaces use it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/rnn_space.h"
#include "descriptor.h"

struct cudnn_rnn {
    enum rnn_cell cell;
    int data_type;
    int biases;     /* vectors for each gate: 0, 1 or 2 */
    int directions; /* 1 or 2 */
    int layers;
    int input_size, hidden_size;
    int projection_size; /* size of a step's output; hidden_size without projection */
    int is_input_skipped;
    int has_dropout; /* between layers */
};

struct cudnn_rnn_data {
    int data_type, steps, batch, vector_size;
};

/* The size of the whole weight space. */
size_t cudnn_rnn_weight_bytes(const struct cudnn_rnn *rnn);

struct cudnn_rnn_part {
    size_t offset_bytes;
    int rows, columns; /* 0: there is no such part */
};

/*
 * Finds the matrix and the bias with number id of a pseudo-layer (one direction of a layer). 0; -1:
 * no such number.
 *
 * weight space: for each pseudo-layer: input matrices, recurrent matrices, projection | the same
 * for the biases
 */
int cudnn_rnn_part(const struct cudnn_rnn *rnn, int pseudo_layer, int id,
                   struct cudnn_rnn_part *matrix, struct cudnn_rnn_part *bias);

/* The shape of a part and its address in the weights. A missing part has no dimensions and address
 * NULL. shape and address may be NULL. */
void cudnn_rnn_show(const struct cudnn_rnn *rnn, const struct cudnn_rnn_part *part,
                    const void *weights, struct cudnn_shape *shape, void **address);

/* Reserve and work space by the rules of common/rnn_space.h. */
size_t cudnn_rnn_reserve_bytes(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data);
size_t cudnn_rnn_work_bytes(const struct cudnn_rnn *rnn, const struct cudnn_rnn_data *data);
