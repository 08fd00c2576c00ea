/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's caching allocator, simulated: which segments it takes from the device, and how much of
 * them it counts as allocated. It must not know models or categories.
 *
 *     request   rounded up to 512 B
 *     segment   up to 1 MiB: 2 MiB; below 10 MiB: 20 MiB; larger: rounded up to 2 MiB
 *     choice    the smallest free block that fits, the lowest address among equals
 *     split     the rest becomes a free block of its own if it has 512 B (blocks up to 1 MiB) or
 *               more than 1 MiB (larger blocks); otherwise the whole block counts as allocated
 *     free      joins free neighbours in the segment; segments are never given back
 *
 * One stream, default settings, a device that never runs out.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_CACHING_ALLOCATOR_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_CACHING_ALLOCATOR_H

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct caching_block;

struct caching_allocator {
    struct caching_block *blocks; /* in the order of their creation */
    size_t count, capacity;
    uint32_t *free_blocks; /* unordered */
    size_t free_count, free_capacity;
    uint32_t spare;   /* first of a chain of unused entries in blocks */
    uint64_t address; /* of the next segment: segments lie side by side */
    uint64_t allocated_bytes, reserved_bytes;
    uint64_t peak_allocated_bytes;
};

void caching_allocator_init(struct caching_allocator *allocator);
void caching_allocator_release(struct caching_allocator *allocator);
/* bytes > 0. *handle is what caching_allocator_free takes. */
int caching_allocator_alloc(struct caching_allocator *allocator, uint64_t bytes, uint32_t *handle,
                            struct err *err);
int caching_allocator_free(struct caching_allocator *allocator, uint32_t handle, struct err *err);

#endif
