/* SPDX-License-Identifier: MIT */
/*
 * What a framework's allocator (a pool) reports of the memory that it hands out: events of the
 * layer pool. Reported by PyTorch (pool_pytorch.c) and through the public API. It must not know
 * which memory of the driver the addresses lie in: the analyzer finds that.
 *
 * Callable with any lock of the caller's held: no lock, no malloc, no Python. errno is kept.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_POOL_H
#define GPUMEMTRACE_INTERPOSE_REPORT_POOL_H

#include <stdint.h>

/* After memory was handed out. stream: whose it is, as the driver knows it, or STREAM_UNKNOWN. */
void pool_alloc(const char *pool, int device, uint64_t address, uint64_t size_bytes,
                uint64_t stream);
/* Before the memory can be handed out again. */
void pool_free(const char *pool, int device, uint64_t address);
/* It was asked for memory and had none. */
void pool_failed(const char *pool, int device, uint64_t size_bytes, uint64_t stream);
/* Before pool_alloc of a block that is larger than what was asked for. */
void pool_asked(int device, uint64_t address, uint64_t bytes);

/* After a failure, on its thread: the pool may hold so many bytes of the device, which it has stated
 * to a multiple of rounding_bytes. */
void pool_limit(const char *pool, int device, uint64_t bytes, uint64_t rounding_bytes);

#endif
