/* SPDX-License-Identifier: MIT */
/*
 * The device and the context of each thread. As in CUDA, the first call that needs a context makes
 * the device's primary context current, unless the program has made one current through the
 * driver's API.
 *
 * Thread-safe.
 */
#pragma once

#include "driver_table.h"

/* The number of devices; 0 if the driver is missing or fails. */
int context_device_count(void);
/* The driver's handle of a device; cudaErrorInvalidDevice if there is no such device. */
cudaError_t context_device(int ordinal, CUdevice *device);
/* The device of the calling thread. */
cudaError_t context_current_device(int *ordinal);
/* Makes the device's primary context current unless the thread has a current context. */
cudaError_t context_make_current(void);
/* Gets the device's primary context, and creates it if necessary. It does not change the current
 * context. */
cudaError_t context_primary(int ordinal, CUcontext *context);
