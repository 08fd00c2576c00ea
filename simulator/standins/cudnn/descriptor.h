/* SPDX-License-Identifier: MIT */
/*
 * Tensors and filters of cuDNN's older interface: type and dimensions as the caller set them.
 */
#pragma once

#include <stddef.h>

enum { CUDNN_DIMENSIONS_MAX = 8 };

struct cudnn_shape {
    int data_type, format, count;
    int dimensions[CUDNN_DIMENSIONS_MAX], strides[CUDNN_DIMENSIONS_MAX];
};

/* Bytes of one element of a cudnnDataType_t; 4 for an unknown type. */
size_t cudnn_element_bytes(int data_type);

/* Sets a dense tensor of three dimensions, the shape of weights of recurrent layers. */
void cudnn_shape_set_matrix(struct cudnn_shape *shape, int data_type, int rows, int columns);
