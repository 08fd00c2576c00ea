/* SPDX-License-Identifier: MIT */
/*
 * Code that a program carries: images and the kernels in them, registered by what nvcc puts before
 * main and into the constructors of libraries. An image is loaded as a library of the driver's by
 * the first call that has a context.
 *
 * Thread-safe. No lock is held over the driver, for a constructor may be waited for there.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_REGISTRY_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_REGISTRY_H

#include "gpumemtrace/cuda/abi.h"

/* Loads what has been registered since; cuInit has succeeded. */
cudaError_t registry_load(void);
/* The driver's handle of a kernel known by its host function, as launches take it; NULL: it was not
 * registered. */
CUfunction registry_kernel(const void *host_function);
/* What it was built for, of what a device of this capability (as in sm_75) can run; 0: unknown. */
int registry_architecture(const void *host_function, int capability);

#endif
