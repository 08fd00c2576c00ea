/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A tracker that compares each frame with the 12 frames before. A key frame, one in four, is never
 * freed, because its owner only drops the pointer. "free" frees it.
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
enum { FRAMES = 160, WINDOW = 12 };

static void *frame_new(void)
{
    void *frame = NULL;
    return cudaMalloc(&frame, 6 * MIB) == cudaSuccess ? frame : NULL;
}

int main(int count, char **arguments)
{
    const int frees = count > 1 && strcmp(arguments[1], "free") == 0;
    void *window[WINDOW] = {NULL};
    for (int number = 0; number < FRAMES; number++) {
        void *flow = NULL;
        void *left = window[number % WINDOW];
        if (cudaMalloc(&flow, 20 * MIB) != cudaSuccess)
            return 1;
        if (left && (frees || number % 4 != 0))
            cudaFree(left);
        window[number % WINDOW] = frame_new();
        cudaFree(flow);
    }
    printf("the last frame is at %p\n", window[(FRAMES - 1) % WINDOW]);
    return 0;
}
