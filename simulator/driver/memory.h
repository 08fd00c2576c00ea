/* SPDX-License-Identifier: MIT */
/*
 * Linear memory, as more than one form of the API hands it out. Not thread-safe: the simulator's
 * lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_MEMORY_H
#define GPUMEMTRACE_SIMULATOR_MEMORY_H

#include "context.h"

/* How device memory gets its addresses: anywhere, or below 4 GiB. */
typedef CUresult memory_take(struct context *context, uint64_t size_bytes, struct span **span);

CUresult memory_linear(struct context *context, uint64_t size_bytes, memory_take *take,
                       CUdeviceptr *address);
CUresult memory_pitched(struct context *context, uint64_t width_bytes, uint64_t height,
                        memory_take *take, CUdeviceptr *address, size_t *pitch_bytes);
/* Anything that cuMemFree takes; 0 is nothing. */
CUresult memory_free(uint64_t address);

#endif
