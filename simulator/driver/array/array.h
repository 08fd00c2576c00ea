/* SPDX-License-Identifier: MIT */
/*
 * Arrays and mipmapped arrays. Not thread-safe: the simulator's lock covers them.
 */
#pragma once

#include "simulator/driver/machine/block.h"
#include "simulator/driver/machine/object.h"
#include "tiles.h"

#define ARRAY_LEVEL_LIMIT 32

struct array {
    struct object object;
    bool is_level;       /* a view; destroyed only with its mipmapped array */
    struct block *block; /* NULL: a level, or the program maps memory into it */
    struct tiles tiles;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
};

struct mipmap {
    struct object object;
    struct block *block; /* NULL: external memory, or the program maps memory into it */
    struct tiles tiles;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    unsigned level_count;
    struct array *levels[ARRAY_LEVEL_LIMIT]; /* created on first use */
};

/* These functions do a complete API call, for all versions of the API function. descriptor and
 * target are NULL if the program passed NULL. */
CUresult array_create(const char *function, CUarray *handle,
                      const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
/* The 3D descriptor of an array with depth 0. */
CUDA_ARRAY3D_DESCRIPTOR array_flat(size_t width, size_t height, CUarray_format format,
                                   unsigned channels);
/* NULL: no such array. */
struct array *array_find(CUarray handle);
struct mipmap *array_find_mipmap(CUmipmappedArray handle);
/* Creates a mipmapped array without memory of its own. */
CUresult array_view(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                    unsigned level_count, struct mipmap **mipmap);
bool array_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
/* -1: overflows 64 bits. */
int array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, uint64_t *size_bytes);
/* *block stays NULL if the program maps memory into the array. */
CUresult array_take_memory(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           uint64_t size_bytes, struct block **block);
void array_give_memory(struct block *block);
/* Returns whether the program maps memory into the array. */
bool array_is_mapped_into(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
/* The bytes of the first level_count levels. -1: overflows 64 bits. */
int array_levels_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned level_count,
                       uint64_t *size_bytes);
CUDA_ARRAY3D_DESCRIPTOR array_level(const CUDA_ARRAY3D_DESCRIPTOR *whole, unsigned level);
uint64_t array_element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
