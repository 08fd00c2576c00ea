/* SPDX-License-Identifier: MIT */
/*
 * The driver as the runtime calls it: one typed pointer for each function in driver_prototypes.def.
 * The functions are looked up in libcuda.so.1 by cuGetProcAddress_v2, each with the version of its
 * ABI.
 *
 * A function that the driver lacks returns CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, so no pointer
 * in the table is ever NULL. The table is filled once and does not change, so any thread may read
 * it without a lock.
 */
#pragma once

#include "gpumemtrace/cuda/abi.h"

/* The stream that the handle 0 means. The function that the program calls (cudaMallocAsync or
 * cudaMallocAsync_ptsz) selects the corresponding driver function. */
enum stream_form { LEGACY, PER_THREAD, STREAM_FORM_COUNT };

struct driver_table {
#define PROTOTYPE(symbol, parameters) CUresult(*symbol) parameters;
#define PROTOTYPE_OLD(symbol, parameters)
#define PROTOTYPE_PTSZ(symbol, parameters) CUresult(*symbol[STREAM_FORM_COUNT]) parameters;
#define PROTOTYPE_PTDS(symbol, parameters) CUresult(*symbol[STREAM_FORM_COUNT]) parameters;
#include "gpumemtrace/cuda/driver_prototypes.def"
};

/* NULL: libcuda.so.1 is missing or too old to have cuGetProcAddress_v2. */
const struct driver_table *driver_table(void);

/* The body of functions that the driver lacks. It is in driver_missing.S, because it must fit every
 * prototype. */
void driver_function_missing(void);
