/* SPDX-License-Identifier: MIT */
// link: cudart12
/*
 * Fragmentation: small blocks keep freed memory between them from being used as one piece. The last
 * allocation fails, although much more memory than it requests is free.
 *
 * Simulator: make samples
 *             build/gpumemtrace run --dry-run -o fragment.db -- build/samples/fragment
 * Real GPU: LD_LIBRARY_PATH=/usr/local/cuda/lib64 \
 *             build/gpumemtrace run -o fragment.db -- build/samples/fragment
 * Then: build/gpumemtrace oom fragment.db (a verdict, with its evidence)
 *             build/gpumemtrace frag --at=oom:2 fragment.db
 */
#include <stdio.h>

#include "gpumemtrace/cuda/abi.h"

#define MIB ((size_t)1 << 20)

enum { PAIRS_MOST = 4096 };

static void *large[PAIRS_MOST], *small[PAIRS_MOST];

/* Takes nearly all of the device, so that the loops below are short. */
static int take_most(size_t leave_bytes)
{
    size_t free_bytes, total_bytes;
    void *ballast;
    cudaFree(NULL); /* creates the context before free memory is read */
    if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess || free_bytes < leave_bytes)
        return -1;
    return cudaMalloc(&ballast, free_bytes - leave_bytes) == cudaSuccess ? 0 : -1;
}

/* Fills the device. The driver cuts a large and a small block from each segment of 2 MiB. */
static int fill(void)
{
    int pairs = 0;
    while (pairs < PAIRS_MOST && cudaMalloc(&large[pairs], MIB + MIB / 2) == cudaSuccess &&
           cudaMalloc(&small[pairs], MIB / 2) == cudaSuccess)
        pairs++;
    cudaGetLastError(); /* clears the error that ended the loop */
    return pairs;
}

int main(void)
{
    size_t free_bytes = 0, total_bytes = 0;
    void *wanted;
    if (take_most(256 * MIB)) {
        fprintf(stderr, "fragment: needs a device with 256 MiB free\n");
        return 1;
    }
    int pairs = fill();
    for (int i = 0; i < pairs; i++)
        cudaFree(large[i]);
    cudaMemGetInfo(&free_bytes, &total_bytes);
    printf("filled with %d pairs, then freed all large blocks: %zu MiB\n", pairs,
           (size_t)pairs * 3 / 2);
    printf("the device says that %zu MiB are free\n", free_bytes / MIB);
    cudaError_t error = cudaMalloc(&wanted, 64 * MIB);
    printf("64 MiB in one piece: %s\n", cudaGetErrorString(error));
    return error == cudaErrorMemoryAllocation ? 0 : 1;
}
