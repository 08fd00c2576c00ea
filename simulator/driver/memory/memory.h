/* SPDX-License-Identifier: MIT */
/*
 * Functions that allocate and find memory, which several versions of an API function share. Not
 * thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "simulator/driver/machine/context.h"

/* A function that takes device memory, either at any address or below 4 GiB. */
typedef CUresult memory_take(struct context *context, uint64_t size_bytes, struct span **span);

CUresult memory_linear(struct context *context, uint64_t size_bytes, memory_take *take,
                       CUdeviceptr *address);
CUresult memory_pitched(struct context *context, uint64_t width_bytes, uint64_t height,
                        memory_take *take, CUdeviceptr *address, size_t *pitch_bytes);
/* Allocates managed or pinned memory in host pages. */
CUresult memory_of_host(struct context *context, enum block_kind kind, uint64_t size_bytes,
                        unsigned flags, uint64_t *address);
/* Frees any address that cuMemFree accepts; 0 has no effect. */
CUresult memory_free(uint64_t address);

struct memory_range {
    uint64_t address, size_bytes;
};

/* A complete call that finds the allocation with this address. */
CUresult memory_find_range(const char *function, uint64_t address, struct memory_range *range);
