/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A service that reads pictures. A picture with a damaged tail, about one in six, makes read_tail()
 * leave without the free. "free" frees there, too.
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
enum { PICTURES = 140 };

static int read_tail(void *pixels, int is_damaged, int frees)
{
    if (is_damaged) {
        if (frees)
            cudaFree(pixels);
        return -1;
    }
    cudaFree(pixels);
    return 0;
}

static int read_picture(int is_damaged, int frees)
{
    void *pixels = NULL;
    if (cudaMalloc(&pixels, 9 * MIB) != cudaSuccess)
        return -1;
    return read_tail(pixels, is_damaged, frees);
}

int main(int count, char **arguments)
{
    const int frees = count > 1 && strcmp(arguments[1], "free") == 0;
    int damaged = 0;
    srand(5);
    for (int number = 0; number < PICTURES; number++)
        damaged += read_picture(rand() % 6 == 0, frees) != 0;
    printf("%d of %d pictures are damaged\n", damaged, PICTURES);
    return 0;
}
