/* SPDX-License-Identifier: MIT */
// link: cudart12
/*
 * Out of memory: allocates 1 GiB at a time until one allocation fails, says so, and continues.
 *
 * Simulator: make samples
 *             build/gpumemtrace run --dry-run -o oom.db -- build/samples/oom
 *             build/gpumemtrace run --dry-run=16GiB,others=6GiB -o oom.db -- build/samples/oom
 * Real GPU: LD_LIBRARY_PATH=/usr/local/cuda/lib64 \
 *             build/gpumemtrace run -o oom.db -- build/samples/oom
 * Then: build/gpumemtrace oom oom.db
 */
#include <stdio.h>

#include "gpumemtrace/cuda/abi.h"

#define GIB ((size_t)1 << 30)

enum { PIECES_MOST = 1024 };

static void *pieces[PIECES_MOST];

static cudaError_t grow(int *count)
{
    cudaError_t error = cudaSuccess;
    while (*count < PIECES_MOST && error == cudaSuccess) {
        error = cudaMalloc(&pieces[*count], GIB);
        *count += error == cudaSuccess;
    }
    return error;
}

int main(void)
{
    size_t free_bytes = 0, total_bytes = 0;
    int count = 0;
    cudaError_t error = grow(&count);
    cudaMemGetInfo(&free_bytes, &total_bytes);
    printf("%d GiB allocated, then: %s\n", count, cudaGetErrorString(error));
    printf("the device has %zu of %zu MiB left\n", free_bytes >> 20, total_bytes >> 20);
    while (count > 0)
        cudaFree(pieces[--count]);
    return error == cudaErrorMemoryAllocation ? 0 : 1;
}
