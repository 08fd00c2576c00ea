/* SPDX-License-Identifier: MIT */
/* link: cudart13 dl */
/*
 * A preloaded memory pool: serves cudaMalloc from one block, and prints counts at the end. The pool
 * allocates this block by the next library's cudaMalloc.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

#define POOL_BYTES ((size_t)64 << 20)

typedef cudaError_t malloc_function(void **address, size_t size_bytes);

static void *pool;
static size_t used_bytes;
static int served, taken_back;

GMT_EXPORT cudaError_t cudaMalloc(void **address, size_t size_bytes)
{
    malloc_function *next = GMT_FUNCTION(malloc_function *, dlsym(RTLD_NEXT, "cudaMalloc"));
    cudaError_t result = cudaSuccess;
    if (!pool)
        result = next(&pool, POOL_BYTES);
    if (result != cudaSuccess)
        return result;
    *address = (void *)((uintptr_t)pool + used_bytes);
    used_bytes += size_bytes;
    served++;
    return cudaSuccess;
}

GMT_EXPORT cudaError_t cudaFree(void *address)
{
    taken_back += address != NULL;
    return cudaSuccess;
}

__attribute__((destructor)) static void say(void)
{
    printf("served %d, taken back %d\n", served, taken_back);
}
