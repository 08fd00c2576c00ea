/* SPDX-License-Identifier: MIT */
/*
 * Finding the driver. See driver.h.
 */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "gpumemtrace/compiler.h"

struct driver driver;

struct lookup {
    const char *name;
    int version;
    cuuint64_t flags;
    size_t offset; /* of the pointer in struct driver */
};

static const struct lookup lookups[] = {
#define DRIVER_CALL(symbol, name, version)                                                         \
    {#name, version, CU_GET_PROC_ADDRESS_DEFAULT, offsetof(struct driver, symbol)},
#define DRIVER_CALL_TWIN(symbol, name, version)                                                    \
    {#name, version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,                                \
     offsetof(struct driver, symbol)},
#include "driver_calls.def"
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cudaError_t load_result;

/* A driver that lacks a function is older than this runtime. */
static cudaError_t look_up_all(void)
{
    for (size_t i = 0; i < sizeof lookups / sizeof lookups[0]; i++) {
        void **place = (void **)(void *)((char *)&driver + lookups[i].offset);
        CUdriverProcAddressQueryResult status;
        if (driver.cuGetProcAddress_v2(lookups[i].name, place, lookups[i].version, lookups[i].flags,
                                       &status) ||
            !*place)
            return cudaErrorInsufficientDriver;
    }
    return cudaSuccess;
}

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    load_result = cudaErrorInsufficientDriver;
    if (!library)
        return;
    driver.cuGetProcAddress_v2 =
        GMT_FUNCTION(cuGetProcAddress_v2_function *, dlsym(library, "cuGetProcAddress_v2"));
    if (!driver.cuGetProcAddress_v2)
        return;
    load_result = look_up_all();
    if (!load_result)
        load_result = (cudaError_t)driver.cuInit(0);
}

cudaError_t driver_load(void)
{
    pthread_once(&once, load);
    return load_result;
}
