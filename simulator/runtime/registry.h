/* SPDX-License-Identifier: MIT */
/*
 * The program's code: images and their kernels. Constructors that nvcc generates register them. The
 * first call with a context loads an image as a library of the driver.
 *
 * Thread-safe. No lock is held during a call of the driver, because such a call may wait for a
 * constructor.
 */
#pragma once

#include "gpumemtrace/cuda/abi.h"

/* Loads newly registered images. cuInit must have succeeded. */
cudaError_t registry_load(void);
/* Returns the driver's handle of the kernel with this host function; NULL: the kernel is not
 * registered. */
CUfunction registry_kernel(const void *host_function);
/* Returns the architecture of the kernel's code for a device of this capability. Both are numbers
 * as in sm_75. 0: unknown. */
int registry_architecture(const void *host_function, int capability);
