/* SPDX-License-Identifier: MIT */
/*
 * Which device and which context a thread works on. As in CUDA, a program that never asked for a
 * context gets its device's primary one on the first call that needs it, and a context that the
 * program made current through the driver's API is respected. It knows nothing of memory.
 *
 * Thread-safe.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_CONTEXT_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_CONTEXT_H

#include "driver_table.h"

/* The number of devices; 0 if the driver cannot say. */
int context_device_count(void);
/* The driver's handle of a device; cudaErrorInvalidDevice for a number that is none. */
cudaError_t context_device(int ordinal, CUdevice *device);
/* The device that the calling thread works on. */
cudaError_t context_current_device(int *ordinal);
/* Makes sure that some context is current for the calling thread. */
cudaError_t context_make_current(void);
/* The device's primary context, created if it is not there; what is current does not change. */
cudaError_t context_primary(int ordinal, CUcontext *context);

#endif
