/* SPDX-License-Identifier: MIT */
/*
 * Code in the program: images and their kernels, registered by nvcc's code in constructors. The
 * first call that has a context loads an image as a library of the driver.
 *
 * Thread-safe. No lock is held over calls of the driver, which may wait for a constructor.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_REGISTRY_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_REGISTRY_H

#include "gpumemtrace/cuda/abi.h"

/* Loads newly registered images. cuInit must have succeeded. */
cudaError_t registry_load(void);
/* The driver's handle of the kernel with this host function; NULL: not registered. */
CUfunction registry_kernel(const void *host_function);
/* The architecture of the kernel's code for a device of this capability; both are numbers as in
 * sm_75. 0: unknown. */
int registry_architecture(const void *host_function, int capability);

#endif
