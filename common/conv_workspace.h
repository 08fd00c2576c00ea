/* SPDX-License-Identifier: MIT */
/*
 * Computes an assumed workspace of a convolution from the shapes. On a real card, cuDNN's
 * heuristics choose the workspace. The rules are those that an H100 followed for ResNet-50,
 * MobileNet, ConvNeXt and U-Net with cuDNN 9 (doc/measurements.md):
 *
 *   tensor cores compute in NHWC: for NCHW there are copies of input, filter and output
 *   the gradient of a filter is added up from parts
 *   1x1 filters are products, in either layout
 *   without tensor cores: none
 *
 * The simulator's cuDNN allocates it, and the estimate counts it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum conv_direction { CONV_FORWARD, CONV_DATA, CONV_FILTER };
enum conv_type { CONV_OTHER, CONV_FLOAT, CONV_HALF, CONV_BFLOAT16 };
enum { CONV_DIMENSIONS_MAX = 8 };

struct conv_tensor {
    int count;
    /* Batch size, channels, and the image's dimensions. For a filter: output channels, input
     * channels of a group, and the filter's dimensions. */
    uint64_t dimensions[CONV_DIMENSIONS_MAX];
};

struct conv_call {
    enum conv_direction direction;
    enum conv_type type; /* type of the input; unless it is CONV_OTHER, all three tensors have it */
    uint64_t element_bytes;
    struct conv_tensor x, w, y; /* input, filter and output, or their gradients */
    bool is_plain;              /* steps of 1, no padding, no dilation */
    bool is_channels_last;
    uint64_t processor_count; /* multiprocessors of the card */
};

/* Does a card of this compute capability have tensor cores for the type? For float, tensor cores
 * compute in TF32. */
bool conv_has_tensor_cores(enum conv_type type, int capability_major);
/* Returns the bytes of the workspace on tensor cores; at most UINT64_MAX. */
uint64_t conv_workspace_bytes(const struct conv_call *call);
