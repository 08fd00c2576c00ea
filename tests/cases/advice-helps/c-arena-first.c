/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A framework takes nine tenths of the card in advance, and a table is loaded beside it. "half"
 * gives the framework half of the card.
 */
#include <stdio.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

static void *arena_begin(double share)
{
    size_t free_bytes = 0, total_bytes = 0;
    void *arena = NULL;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    cudaMalloc(&arena, (size_t)((double)total_bytes * share));
    return arena;
}

static void *table_load(void)
{
    void *table = NULL;
    return cudaMalloc(&table, (size_t)2 << 30) == cudaSuccess ? table : NULL;
}

int main(int argc, char **argv)
{
    void *arena = arena_begin(argc > 1 && !strcmp(argv[1], "half") ? 0.5 : 0.9);
    void *table = table_load();
    printf("table %s\n", table ? "loaded" : "refused");
    cudaFree(table);
    cudaFree(arena);
    return !table;
}
