/* SPDX-License-Identifier: MIT */
/*
 * Records the reports of a framework's allocator (a pool) about the memory that it hands out, as
 * events of the layer pool. The reports come from PyTorch (pool_pytorch.c), or from a program that
 * calls the public API. The analyzer finds the driver's memory in which the addresses lie.
 *
 * The caller may hold any of its own locks, because these functions take no lock and call neither
 * malloc nor Python. They keep errno.
 */
#pragma once

#include <stdint.h>

/* Call it after memory was handed out. stream: the stream that the block belongs to, as the
 * driver's number, or STREAM_UNKNOWN. */
void pool_alloc(const char *pool, int device, uint64_t address, uint64_t size_bytes,
                uint64_t stream);
/* Call it before the pool can hand out the memory again. */
void pool_free(const char *pool, int device, uint64_t address);
/* Call it after the pool could not serve a request. */
void pool_failed(const char *pool, int device, uint64_t size_bytes, uint64_t stream);
/* Call it before pool_alloc if the block is larger than the request. bytes: the size of the
 * request. */
void pool_asked(int device, uint64_t address, uint64_t bytes);

/* Call it after a failure, on the same thread. bytes: the most memory of the device that the pool
 * may hold; the pool has rounded it to a multiple of rounding_bytes. */
void pool_limit(const char *pool, int device, uint64_t bytes, uint64_t rounding_bytes);
