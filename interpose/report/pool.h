/* SPDX-License-Identifier: MIT */
/*
 * Reports of a framework's allocator (a pool) on the memory that it hands out: events of the layer
 * pool. PyTorch reports them (pool_pytorch.c), and programs by the public API. The analyzer finds
 * the driver's memory in which the addresses lie.
 *
 * Callable with any lock of the caller held: no lock, no malloc, no Python. Keeps errno.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_POOL_H
#define GPUMEMTRACE_INTERPOSE_REPORT_POOL_H

#include <stdint.h>

/* Call it after memory was handed out. stream: the stream that the block belongs to, as the
 * driver's number, or STREAM_UNKNOWN. */
void pool_alloc(const char *pool, int device, uint64_t address, uint64_t size_bytes,
                uint64_t stream);
/* Call it before the memory can be handed out again. */
void pool_free(const char *pool, int device, uint64_t address);
/* The pool could not serve a request. */
void pool_failed(const char *pool, int device, uint64_t size_bytes, uint64_t stream);
/* Call it before pool_alloc if the block is larger than the request. bytes: of the request. */
void pool_asked(int device, uint64_t address, uint64_t bytes);

/* Call it after a failure, on the same thread. bytes: the most that the pool may hold of the
 * device, rounded by the pool to a multiple of rounding_bytes. */
void pool_limit(const char *pool, int device, uint64_t bytes, uint64_t rounding_bytes);

#endif
