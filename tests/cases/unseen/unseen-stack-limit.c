/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * Builds a tree with a recursive kernel, which needs a deep stack per thread, and then loads a
 * table of points. "reset" sets the limit of the stack back between the two.
 */
#include <stdio.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

#define MIB ((size_t)1 << 20)
enum { STACK_BYTES = 40 * 1024, NODES_MIB = 512, PARTS = 8, PART_MIB = 1024 };

static void say(const char *when)
{
    size_t free_bytes = 0, total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    printf("%-20s %zu of %zu MiB free\n", when, free_bytes / MIB, total_bytes / MIB);
}

static void *tree_build(void)
{
    void *nodes = NULL;
    if (cudaMalloc(&nodes, NODES_MIB * MIB) != cudaSuccess)
        return NULL;
    say("nodes");
    if (cudaDeviceSetLimit(cudaLimitStackSize, STACK_BYTES) != cudaSuccess)
        return NULL;
    cudaMemset(nodes, 0, NODES_MIB * MIB);
    cudaDeviceSynchronize();
    say("tree built");
    return nodes;
}

int main(int argc, char **argv)
{
    const int reset = argc > 1 && strcmp(argv[1], "reset") == 0;
    void *points[PARTS];
    say("at start");
    void *nodes = tree_build();
    if (!nodes)
        return 2;
    if (reset) {
        cudaDeviceSetLimit(cudaLimitStackSize, 1024);
        say("limit set back");
    }
    for (int part = 0; part < PARTS; part++) {
        if (cudaMalloc(&points[part], PART_MIB * MIB) != cudaSuccess) {
            printf("no memory for part %d of the points; the program's own buffers: %d MiB\n", part,
                   NODES_MIB + part * PART_MIB);
            return 1;
        }
    }
    say("points loaded");
    for (int part = 0; part < PARTS; part++)
        cudaFree(points[part]);
    cudaFree(nodes);
    return 0;
}
