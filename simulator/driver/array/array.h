/* SPDX-License-Identifier: MIT */
/*
 * Arrays, as copies need to see them. Not thread-safe: the simulator's lock covers them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_ARRAY_ARRAY_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_ARRAY_ARRAY_H

#include "simulator/driver/machine/block.h"
#include "simulator/driver/machine/object.h"
#include "tiles.h"

#define ARRAY_LEVEL_LIMIT 32

struct array {
    struct object object;
    bool is_level;       /* a view of a mipmapped array: goes with it only */
    struct block *block; /* NULL: a level, or its memory is mapped into it */
    struct tiles tiles;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
};

struct mipmap {
    struct object object;
    struct block *block; /* NULL: its memory is mapped into it, or is another API's */
    struct tiles tiles;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    unsigned level_count;
    struct array *levels[ARRAY_LEVEL_LIMIT]; /* made when asked for */
};

/* Whole calls, for each form of the API; descriptor and target: NULL if the program's is. */
CUresult array_create(const char *function, CUarray *handle,
                      const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
/* What the forms without a depth ask for. */
CUDA_ARRAY3D_DESCRIPTOR array_flat(size_t width, size_t height, CUarray_format format,
                                   unsigned channels);
/* NULL: no such array. */
struct array *array_find(CUarray handle);
struct mipmap *array_find_mipmap(CUmipmappedArray handle);
/* A mipmapped array without memory of its own. NULL: no host memory; invalid: the result says. */
CUresult array_view(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                    unsigned level_count, struct mipmap **mipmap);
bool array_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
/* -1: more than 64 bits can say. */
int array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, uint64_t *size_bytes);
/* *block stays NULL where the program maps memory in. */
CUresult array_take_memory(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           uint64_t size_bytes, struct block **block);
void array_give_memory(struct block *block);
/* Does the program map memory into it? */
bool array_is_mapped_into(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
/* Bytes of the first levels together; -1: more than 64 bits can say. */
int array_levels_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned level_count,
                       uint64_t *size_bytes);
CUDA_ARRAY3D_DESCRIPTOR array_level(const CUDA_ARRAY3D_DESCRIPTOR *whole, unsigned level);
uint64_t array_element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

#endif
