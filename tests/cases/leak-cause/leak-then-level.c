/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A trainer that loses the statistics of each training step, 5 MiB. The last sixth of the run
 * validates, with the same work and without statistics. "free" frees them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

#define MIB ((size_t)1 << 20)
enum { STEPS = 120, TRAINED = 100 };

static void *statistics_new(void)
{
    void *statistics = NULL;
    return cudaMalloc(&statistics, 5 * MIB) == cudaSuccess ? statistics : NULL;
}

int main(int count, char **arguments)
{
    const int frees = count > 1 && strcmp(arguments[1], "free") == 0;
    int lost = 0;
    for (int step = 0; step < STEPS; step++) {
        void *work = NULL;
        if (cudaMalloc(&work, 40 * MIB) != cudaSuccess)
            return 1;
        void *statistics = step < TRAINED ? statistics_new() : NULL;
        cudaFree(work);
        if (statistics && frees)
            cudaFree(statistics);
        lost += statistics && !frees;
    }
    printf("%d steps, %d statistics lost\n", STEPS, lost);
    return 0;
}
