/* SPDX-License-Identifier: MIT */
/* The workspaces of convolutions (see common/conv_workspace.h) and of recurrent layers (see
 * common/rnn_space.h). */
#pragma once

#include "common/conv_workspace.h"
#include "common/rnn_space.h"
#include "layer.h"

/* Properties of a card that decide the size of a workspace. */
struct layer_cores {
    int capability_major;
    uint64_t processor_count;
};

/*
 * Returns the bytes of the workspace; 0: the layer has none. UINT64_MAX: too large. The forward
 * of a transposed convolution is the backward of a plain convolution, and the other way round.
 */
uint64_t layer_workspace(const struct layer *layer, const struct flow *flow,
                         const struct layer_cores *cores, enum conv_direction direction);

/* Returns the sizes of a recurrent layer. */
struct rnn_call layer_rnn_call(const struct layer *layer, const struct flow *flow);
