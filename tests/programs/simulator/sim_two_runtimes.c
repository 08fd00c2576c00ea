/* SPDX-License-Identifier: MIT */
/* link: dl */
/*
 * Loads both simulated runtimes into one process, as in a program whose libraries were built with
 * different versions of CUDA. The runtimes share the device and its memory, but not last errors or
 * the current device.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

#define MIB ((size_t)1 << 20)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: failed: %s\n", __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct runtime {
    cudaError_t (*allocate)(void **address, size_t size_bytes);
    cudaError_t (*release)(void *address);
    cudaError_t (*reset)(void);
    cudaError_t (*last_error)(void);
    cudaError_t (*version)(int *number);
    cudaError_t (*memory)(size_t *free_bytes, size_t *total_bytes);
};

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    CHECK(found != NULL);
    return found;
}

static struct runtime open_runtime(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    return (struct runtime){
        GMT_FUNCTION(cudaError_t(*)(void **, size_t), symbol(library, "cudaMalloc")),
        GMT_FUNCTION(cudaError_t(*)(void *), symbol(library, "cudaFree")),
        GMT_FUNCTION(cudaError_t(*)(void), symbol(library, "cudaDeviceReset")),
        GMT_FUNCTION(cudaError_t(*)(void), symbol(library, "cudaGetLastError")),
        GMT_FUNCTION(cudaError_t(*)(int *), symbol(library, "cudaRuntimeGetVersion")),
        GMT_FUNCTION(cudaError_t(*)(size_t *, size_t *), symbol(library, "cudaMemGetInfo")),
    };
}

static size_t free_bytes_now(const struct runtime *runtime)
{
    size_t free_bytes, total_bytes;
    CHECK(runtime->memory(&free_bytes, &total_bytes) == cudaSuccess);
    return free_bytes;
}

int main(void)
{
    const struct runtime older = open_runtime("libcudart.so.12");
    const struct runtime newer = open_runtime("libcudart.so.13");
    size_t before_bytes;
    void *block;
    int number;
    CHECK(older.version(&number) == cudaSuccess && number / 1000 == 12);
    CHECK(newer.version(&number) == cudaSuccess && number / 1000 == 13);

    /* Both use one context: memory allocated by one can be seen and freed by the other. */
    before_bytes = free_bytes_now(&older);
    CHECK(free_bytes_now(&newer) == before_bytes);
    CHECK(older.allocate(&block, 4 * MIB) == cudaSuccess);
    CHECK(before_bytes - free_bytes_now(&newer) == 4 * MIB);
    CHECK(newer.release(block) == cudaSuccess);

    CHECK(older.release(block) == cudaErrorInvalidValue);
    CHECK(newer.last_error() == cudaSuccess);
    CHECK(older.last_error() == cudaErrorInvalidValue);

    /* One runtime resets the device, and the other does not know it. Both work afterwards. */
    CHECK(newer.allocate(&block, 4 * MIB) == cudaSuccess);
    CHECK(newer.reset() == cudaSuccess);
    CHECK(older.allocate(&block, MIB) == cudaSuccess);
    CHECK(older.reset() == cudaSuccess);
    CHECK(newer.allocate(&block, MIB) == cudaSuccess);
    CHECK(newer.release(block) == cudaSuccess);
    CHECK(free_bytes_now(&older) == before_bytes);
    return 0;
}
