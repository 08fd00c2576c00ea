/* SPDX-License-Identifier: MIT */
/*
 * The workspace of a convolution, which cuDNN's heuristics choose on a card: an assumption here. It
 * must not know which of cuDNN's interfaces asks.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_WORKSPACE_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/conv_workspace.h"
#include "descriptor.h"

struct convolution {
    enum conv_direction direction;
    struct cudnn_shape x, w, y; /* input, filter and output, or their gradients */
    bool is_plain;              /* steps of 1, no padding, no dilation */
};

/* Bytes that a call takes: GPUMEMTRACE_SIM_CONV_WORKSPACE, a size; else as common/conv_workspace.h assumes. */
size_t convolution_workspace(const struct convolution *convolution, bool on_tensor_cores);

/* Whether the current device has tensor cores for this type; for float they compute in TF32. */
bool convolution_uses_tensor_cores(const struct convolution *convolution);

#endif
