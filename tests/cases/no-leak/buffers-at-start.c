/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A service that takes 16 buffers for its clients when it begins, and one more for the time of each
 * request, all in one function. "few" takes 8.
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
enum { CLIENTS = 16, REQUESTS = 90 };

static void *buffer_new(void)
{
    void *buffer = NULL;
    return cudaMalloc(&buffer, 12 * MIB) == cudaSuccess ? buffer : NULL;
}

int main(int count, char **arguments)
{
    const int clients = count > 1 && strcmp(arguments[1], "few") == 0 ? CLIENTS / 2 : CLIENTS;
    void *buffers[CLIENTS];
    for (int i = 0; i < clients + REQUESTS; i++) {
        void *buffer = buffer_new();
        if (!buffer)
            return 1;
        if (i < clients)
            buffers[i] = buffer;
        else
            cudaFree(buffer);
    }
    printf("%d clients, the first at %p\n", clients, buffers[0]);
    return 0;
}
