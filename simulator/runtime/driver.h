/* SPDX-License-Identifier: MIT */
/*
 * The driver as the runtime sees it: functions got from libcuda.so.1 through cuGetProcAddress_v2,
 * the one symbol that is looked up by name. It must not link to libcuda: a program may bring the
 * runtime to a machine without a driver.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_DRIVER_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_DRIVER_H

#include "api.h"

#define PROTOTYPE(symbol, parameters) typedef CUresult symbol##_function parameters;
#define PROTOTYPE_PTSZ(symbol, parameters)                                                         \
    typedef CUresult symbol##_function parameters;                                                 \
    typedef CUresult symbol##_ptsz_function parameters;
#define PROTOTYPE_PTDS(symbol, parameters)                                                         \
    typedef CUresult symbol##_function parameters;                                                 \
    typedef CUresult symbol##_ptds_function parameters;
#include "gpumemtrace/cuda/driver_prototypes.def"

struct driver {
    cuGetProcAddress_v2_function *cuGetProcAddress_v2;
#define DRIVER_CALL(symbol, name, version) symbol##_function *symbol;
#define DRIVER_CALL_TWIN(symbol, name, version) symbol##_function *symbol;
#include "driver_calls.def"
};

/* Complete once driver_load has succeeded; not written after. */
extern struct driver driver;

/* Loads the driver and calls cuInit, once; returns the same result ever after. Thread-safe. */
cudaError_t driver_load(void);

#endif
