/* SPDX-License-Identifier: MIT */
/*
 * The workspace of a convolution. On a card, cuDNN's heuristics choose it; here its size is
 * assumed. Both of cuDNN's interfaces use it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/conv_workspace.h"
#include "descriptor.h"

struct convolution {
    enum conv_direction direction;
    struct cudnn_shape x, w, y; /* input, filter and output, or their gradients */
    bool is_plain;              /* stride 1, no padding, no dilation */
};

/* Bytes of workspace of a call: GPUMEMTRACE_SIM_CONV_WORKSPACE if it is set, else as assumed in
 * common/conv_workspace.h. */
size_t convolution_workspace(const struct convolution *convolution, bool on_tensor_cores);

/* Whether the current device has tensor cores for this type. For float, tensor cores compute in
 * TF32. */
bool convolution_uses_tensor_cores(const struct convolution *convolution);
