/* SPDX-License-Identifier: MIT */
/*
 * Computes the bytes of arrays and of pitched memory from their descriptors. Every function accepts
 * NULL, for which it returns 0, and returns UINT64_MAX if the size does not fit in 64 bits.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

static inline uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t result;
    return GMT_MUL_OVERFLOWS(a, b, &result) ? UINT64_MAX : result;
}

/* The extents and elements of one array. flags: CUDA_ARRAY3D_*; the runtime's flags have the same
 * values. */
struct array_shape {
    uint64_t width, height, depth; /* elements; a height or depth of 0 counts as 1 */
    uint64_t element_bits;
    unsigned flags;
};

/* Returns the bytes of all levels of a mipmap; for a plain array, level_count is 1. Each level
 * halves the extents, but not the number of layers. Returns 0 for an array without memory of its
 * own: a sparse array, or an array whose memory is mapped later. */
uint64_t array_shape_mipmap_bytes(const struct array_shape *shape, unsigned level_count);

/* Returns the bits of one element of a driver format with this number of channels; 0: the format is
 * unknown. */
uint64_t array_element_bits(int format, unsigned channel_count);

uint64_t array_bytes(const CUDA_ARRAY_DESCRIPTOR *descriptor);
uint64_t array_3d_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
uint64_t array_mipmap_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned level_count);
/* Computes the bytes for a descriptor from before CUDA 3.2. */
uint64_t array_bytes_v1(const CUDA_ARRAY_DESCRIPTOR_v1 *descriptor);
uint64_t array_3d_bytes_v1(const CUDA_ARRAY3D_DESCRIPTOR_v1 *descriptor);
uint64_t array_runtime_bytes(const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                             unsigned flags, unsigned level_count);
