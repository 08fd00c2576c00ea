/* SPDX-License-Identifier: MIT */
/*
 * What every function of the runtime goes through: the driver is loaded, the thread has a context,
 * ordered failures happen, the last error is kept. A function is
 *
 *     cudaError_t result = runtime_begin(__func__, RUNTIME_NEEDS_CONTEXT);
 *     if (!result)
 *         result = (cudaError_t)driver.cu…(…);
 *     return runtime_end(result);
 *
 * Results have the same numbers in both APIs. The last error belongs to a thread and to one of the
 * runtimes in the process, as with NVIDIA's.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_H

#include "driver.h"

enum runtime_needs {
    RUNTIME_NEEDS_NOTHING,
    RUNTIME_NEEDS_DRIVER,
    RUNTIME_NEEDS_CONTEXT /* the thread's current one, else its device's primary context */
};

cudaError_t runtime_begin(const char *function, enum runtime_needs needs);
/* Keeps an error as the last one; returns it. */
cudaError_t runtime_end(cudaError_t result);

/* The last error; an error after which the context is unusable stays the last one. */
cudaError_t runtime_last_error(void);
void runtime_clear_error(void);

/* The device this thread has set or its current context is on. */
int runtime_device(void);
cudaError_t runtime_set_device(int device);
/* Gives the device's primary context up after a reset. */
void runtime_forget(int device);

/* The major version this library was linked as: 12 or 13. */
int runtime_major(void);

#define RUNTIME_VERSION_12 12080
#define RUNTIME_VERSION_13 13000
int runtime_version(void);

/* As TWIN in simulator/driver/call.h; the body gets the exported name and the driver function of
 * its own kind first. */
#define RUNTIME_TWIN(suffix, name, driver_symbol, parameters, ...)                                 \
    cudaError_t name parameters                                                                    \
    {                                                                                              \
        return do_##name(#name, driver.driver_symbol, __VA_ARGS__);                                \
    }                                                                                              \
    cudaError_t name##suffix parameters                                                            \
    {                                                                                              \
        return do_##name(#name #suffix, driver.driver_symbol##suffix, __VA_ARGS__);                \
    }

#endif
