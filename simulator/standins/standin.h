/* SPDX-License-Identifier: MIT */
/*
 * Shared by the bodies of stand-ins. A function needs a body only if its caller needs more than the
 * result 0: a handle, size, text or version. Names, numbers and layouts are those of the libraries'
 * public headers. Stand-ins compute no values, except those that collectives move.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

/* Declares and exports a function, because NVIDIA's headers are not included. */
#define STANDIN(type, name, parameters)                                                            \
    GMT_EXPORT type name parameters;                                                               \
    GMT_EXPORT type name parameters

/* Defines XCreate(handle) and XDestroy(handle) of an opaque object. */
#define STANDIN_CREATE(name, out_of_memory)                                                        \
    STANDIN(int, name, (void **handle))                                                            \
    {                                                                                              \
        *handle = malloc(1);                                                                       \
        return *handle ? 0 : (out_of_memory);                                                      \
    }
#define STANDIN_DESTROY(name)                                                                      \
    STANDIN(int, name, (void *handle))                                                             \
    {                                                                                              \
        free(handle);                                                                              \
        return 0;                                                                                  \
    }

/* Above the minor version of every library, because a program accepts a newer one than it was built
 * for. */
#define STANDIN_MINOR 99

/* Defines XGetProperty(property, value): property 0 is the major version, 1 the minor, 2 the patch
 * level. */
#define STANDIN_PROPERTY(name, major)                                                              \
    STANDIN(int, name, (int property, int *value))                                                 \
    {                                                                                              \
        *value = property == 0 ? (major) : property == 1 ? STANDIN_MINOR : 0;                      \
        return 0;                                                                                  \
    }

/*
 * Defines a query of workspace sizes that returns 0 bytes. first and second are the positions, from
 * 1, of the arguments that point to the results; arguments after them may be missing.
 */
#define STANDIN_NO_BYTES(name, type, position)                                                     \
    STANDIN_NO_BYTES_TWICE(name, type, position, position)
#define STANDIN_NO_BYTES_TWICE(name, type, first, second)                                          \
    STANDIN(int, name,                                                                             \
            (uintptr_t a1 GMT_UNUSED, uintptr_t a2 GMT_UNUSED, uintptr_t a3 GMT_UNUSED,            \
             uintptr_t a4 GMT_UNUSED, uintptr_t a5 GMT_UNUSED, uintptr_t a6 GMT_UNUSED,            \
             uintptr_t a7 GMT_UNUSED, uintptr_t a8 GMT_UNUSED, uintptr_t a9 GMT_UNUSED,            \
             uintptr_t a10 GMT_UNUSED, uintptr_t a11 GMT_UNUSED, uintptr_t a12 GMT_UNUSED,         \
             uintptr_t a13 GMT_UNUSED, uintptr_t a14 GMT_UNUSED, uintptr_t a15 GMT_UNUSED,         \
             uintptr_t a16 GMT_UNUSED, uintptr_t a17 GMT_UNUSED, uintptr_t a18 GMT_UNUSED,         \
             uintptr_t a19 GMT_UNUSED, uintptr_t a20 GMT_UNUSED))                                  \
    {                                                                                              \
        *(type *)a##first = 0, *(type *)a##second = 0;                                             \
        return 0;                                                                                  \
    }

/* Allocates device memory that a library keeps for itself; NULL: out of memory. NVIDIA's libraries
 * contain a runtime of their own, so a failure does not become the program's last error. */
static inline void *standin_take_memory(size_t bytes)
{
    const bool was_clean = cudaPeekAtLastError() == cudaSuccess;
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes) != cudaSuccess && was_clean)
        cudaGetLastError();
    return memory;
}
