/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * A library whose destructor still uses CUDA and makes many events. If it is preloaded after the
 * recorder, its destructor runs after the recorder's.
 */
#include <unistd.h>

#include "gpumemtrace/cuda/abi.h"

#define PAIRS 5000

__attribute__((destructor)) static void use_cuda(void)
{
    void *block;
    for (int i = 0; i < PAIRS; i++)
        if (cudaMalloc(&block, 4096) != 0 || cudaFree(block) != 0)
            _exit(9);
}
