/* SPDX-License-Identifier: MIT */
/*
 * What the bodies of stand-ins share. A body is there only where a caller looks at more than the
 * returned 0: a handle it must get, a size, a text, a version. Names, numbers and layouts are those
 * of the libraries' public headers. It must not compute anything: values in a dry run are zeros.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_STANDIN_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_STANDIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "gpumemtrace/compiler.h"

/* An exported function with its declaration: nobody includes NVIDIA's. */
#define STANDIN(type, name, parameters)                                                            \
    GMT_EXPORT type name parameters;                                                               \
    GMT_EXPORT type name parameters

/* XCreate(handle) and XDestroy(handle) of something that nobody looks into. */
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

#endif
