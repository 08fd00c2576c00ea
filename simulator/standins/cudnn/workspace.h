/* SPDX-License-Identifier: MIT */
/*
 * The workspace of a convolution, which cuDNN's heuristics choose on a card: an assumption here. It
 * must not know which of cuDNN's interfaces asks.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_WORKSPACE_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "descriptor.h"

enum convolution_direction { CONVOLUTION_FORWARD, CONVOLUTION_DATA, CONVOLUTION_FILTER };

struct convolution {
    enum convolution_direction direction;
    struct cudnn_shape x, w, y; /* input, filter and output, or their gradients */
    bool is_plain;              /* steps of 1, no padding, no dilation */
};

/*
 * Bytes that a call takes: GPUMEMTRACE_SIM_CONV_WORKSPACE, a size; else assumed from the shapes, as an
 * H100 was seen to take for ResNet-50, MobileNet, ConvNeXt and U-Net with cuDNN 9:
 *
 *   tensor cores compute in NHWC: for NCHW there are copies of input, filter and output
 *   the gradient of a filter is added up from parts
 *   1x1 filters are products, in either layout
 *   without tensor cores: none
 */
size_t convolution_workspace(const struct convolution *convolution, bool on_tensor_cores);

/* Whether the current device has tensor cores for this type; for float they compute in TF32. */
bool convolution_uses_tensor_cores(const struct convolution *convolution);

#endif
