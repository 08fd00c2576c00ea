/* SPDX-License-Identifier: MIT */
/*
 * The driver as the runtime calls it: one typed pointer for each function that
 * driver_prototypes.def lists, taken from libcuda.so.1 through cuGetProcAddress_v2 with the version
 * of each one's own ABI. It knows nothing of devices, contexts or memory.
 *
 * What the driver does not have answers CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND when called, so
 * no pointer in the table is ever NULL. The table is filled once and never changes: any thread may
 * read it without a lock.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_DRIVER_TABLE_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_DRIVER_TABLE_H

#include "gpumemtrace/cuda/abi.h"

/* Which stream a call with stream 0 means: the form of the function that the program was compiled
 * to call (cudaMallocAsync, or cudaMallocAsync_ptsz) picks the form of the driver's function. */
enum stream_form { LEGACY, PER_THREAD, STREAM_FORM_COUNT };

struct driver_table {
#define PROTOTYPE(symbol, parameters) CUresult(*symbol) parameters;
#define PROTOTYPE_OLD(symbol, parameters)
#define PROTOTYPE_PTSZ(symbol, parameters) CUresult(*symbol[STREAM_FORM_COUNT]) parameters;
#define PROTOTYPE_PTDS(symbol, parameters) CUresult(*symbol[STREAM_FORM_COUNT]) parameters;
#include "gpumemtrace/cuda/driver_prototypes.def"
};

/* NULL when there is no libcuda.so.1, or one too old to have cuGetProcAddress_v2. */
const struct driver_table *driver_table(void);

/* What an absent function is called as; in driver_missing.S, for it has to suit every prototype. */
void driver_function_missing(void);

#endif
