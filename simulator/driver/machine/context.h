/* SPDX-License-Identifier: MIT */
/*
 * Contexts, and each thread's stack of current contexts. The struct of a primary context is never
 * freed; the context is alive from its first retain to its last release or reset.
 *
 * Not thread-safe: the simulator's lock covers everything except each thread's own stack.
 */
#pragma once

#include "context_state.h"

/* The thread's current context, alive or not; NULL: none. */
struct context *context_current(void);
/* NULL: no live context has this handle. */
struct context *context_find(CUcontext handle);

CUresult context_push(struct context *context);
struct context *context_pop(void);
/* Replaces the top of the stack by this context. NULL: removes the top. */
CUresult context_set(struct context *context);

/* Has no effect and returns CUDA_ERROR_OUT_OF_MEMORY when the device is out of memory. */
CUresult context_set_limit(struct context *context, CUlimit limit, size_t value);
CUresult context_create(struct device *device, unsigned flags, struct context **context);
void context_destroy(struct context *context);
CUresult context_retain_primary(struct device *device, struct context **context);
CUresult context_release_primary(struct device *device);
void context_reset_primary(struct device *device);

/* Takes device memory for the context. Small blocks share granules. */
CUresult context_take(struct context *context, uint64_t size_bytes, struct span **span);
/* Does the same as context_take, but takes memory below 4 GiB, in granules that no other block
 * shares. */
CUresult context_take_low(struct context *context, uint64_t size_bytes, struct span **span);
void context_give(struct context *context, struct span *span);
/* Frees a block of the context and returns its memory. */
void context_free_block(struct block *block);
