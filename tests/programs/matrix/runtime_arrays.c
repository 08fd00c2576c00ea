/* SPDX-License-Identifier: MIT */
/* Families of the runtime: arrays of every shape and mipmaps. */
#include "matrix.h"

#define FLOAT_BYTES 4

static const struct cudaChannelFormatDesc one_float = {.x = 32, .f = cudaChannelFormatKindFloat};
static const struct cudaChannelFormatDesc four_halves = {
    .x = 16, .y = 16, .z = 16, .w = 16, .f = cudaChannelFormatKindFloat};

static void destroy(cudaArray_t array, uint64_t bytes)
{
    RUNTIME(cudaFreeArray, (array));
    book_free(MEMORY_ARRAY, bits(array), bytes);
}

void runtime_arrays(void)
{
    cudaArray_t first = NULL, second = NULL;
    RUNTIME(cudaMallocArray, (&first, &one_float, 1000, 0, cudaArrayDefault));
    book_alloc(MEMORY_ARRAY, bits(first), 1000 * FLOAT_BYTES);
    RUNTIME(cudaMallocArray, (&second, &four_halves, 100, 30, cudaArrayDefault));
    book_alloc(MEMORY_ARRAY, bits(second), 100 * 30 * 8);
    destroy(first, 1000 * FLOAT_BYTES);
    destroy(second, 100 * 30 * 8);
}

static cudaArray_t array_of(struct cudaExtent extent, unsigned flags, uint64_t bytes)
{
    cudaArray_t array = NULL;
    RUNTIME(cudaMalloc3DArray, (&array, &one_float, extent, flags));
    book_alloc(MEMORY_ARRAY, bits(array), bytes);
    return array;
}

void runtime_arrays_3d(void)
{
    const cudaArray_t first =
        array_of((struct cudaExtent){64, 32, 8}, 0, 64 * 32 * 8 * FLOAT_BYTES);
    const cudaArray_t second =
        array_of((struct cudaExtent){64, 0, 5}, cudaArrayLayered, 64 * 5 * FLOAT_BYTES);
    const cudaArray_t third =
        array_of((struct cudaExtent){32, 32, 6}, cudaArrayCubemap, 32 * 32 * 6 * FLOAT_BYTES);
    destroy(first, 64 * 32 * 8 * FLOAT_BYTES);
    destroy(second, 64 * 5 * FLOAT_BYTES);
    destroy(third, 32 * 32 * 6 * FLOAT_BYTES);
}

void runtime_mipmap(void)
{
    const uint64_t bytes = (64 * 64 + 32 * 32 + 16 * 16) * FLOAT_BYTES;
    const struct cudaExtent extent = {64, 64, 0};
    cudaMipmappedArray_t mipmap = NULL;
    cudaArray_t level = NULL;
    RUNTIME(cudaMallocMipmappedArray, (&mipmap, &one_float, extent, 3, 0));
    book_alloc(MEMORY_ARRAY, bits(mipmap), bytes);
    RUNTIME(cudaGetMipmappedArrayLevel, (&level, mipmap, 1));
    RUNTIME(cudaFreeMipmappedArray, (mipmap));
    book_free(MEMORY_ARRAY, bits(mipmap), bytes);
}
