/* SPDX-License-Identifier: MIT */
/*
 * Arrays, as copies need to see them. Not thread-safe: the simulator's lock covers them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_ARRAY_H
#define GPUMEMTRACE_SIMULATOR_ARRAY_H

#include "block.h"
#include "object.h"

#define ARRAY_LEVEL_LIMIT 32

struct array {
    struct object object;
    struct block *block; /* NULL: a level of a mipmapped array */
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
};

CUresult array_new(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                   CUarray *handle);
/* NULL: no such array. */
struct array *array_find(CUarray handle);
uint64_t array_element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

#endif
