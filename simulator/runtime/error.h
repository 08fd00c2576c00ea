/* SPDX-License-Identifier: MIT */
/*
 * Errors of the runtime: what the driver's results are called here, and what a thread and the
 * process remember of them. It must not know any call. Thread-safe.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_ERROR_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_ERROR_H

#include "gpumemtrace/cuda/abi.h"

/* What the runtime calls a result of the driver's. */
cudaError_t error_of_driver(CUresult result);
/* Remembers an error as the thread's last one; returns what it is given. */
cudaError_t error_remember(cudaError_t error);
/* The first error of this process that it cannot recover from; cudaSuccess: none. */
cudaError_t error_fatal(void);

/* The body of every name in missing.S. */
cudaError_t runtime_function_missing(void);

#endif
