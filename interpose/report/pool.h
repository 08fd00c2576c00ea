/* SPDX-License-Identifier: MIT */
/*
 * What a framework's allocator says it hands out of memory that it has from the driver: events of
 * the layer pool. From PyTorch's own reports (pool_pytorch.c) and from the public API. It must not
 * know whose memory the addresses lie in: the analyzer finds the segments.
 *
 * Callable with any lock of the caller's held: no lock, no malloc, no Python. errno is kept.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_POOL_H
#define GPUMEMTRACE_INTERPOSE_REPORT_POOL_H

#include <stdint.h>

/* After memory was handed out. */
void pool_alloc(const char *pool, int device, uint64_t address, uint64_t size_bytes);
/* Before it can be handed out again. */
void pool_free(const char *pool, int device, uint64_t address);
/* It was asked for, and there was none. */
void pool_failed(const char *pool, int device, uint64_t size_bytes);

#endif
