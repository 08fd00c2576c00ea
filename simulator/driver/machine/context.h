/* SPDX-License-Identifier: MIT */
/*
 * Contexts: what lives in them, and which of them each thread has made current. The struct of a
 * primary context stays for good; it is alive from its first retain to its last release or reset.
 *
 * Not thread-safe: the simulator's lock covers it, but for each thread's own stack.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CONTEXT_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CONTEXT_H

#include "context_state.h"

/* The thread's current context, alive or not; NULL: none. */
struct context *context_current(void);
/* NULL: no context with this handle, or one that is destroyed. */
struct context *context_find(CUcontext handle);

CUresult context_push(struct context *context);
struct context *context_pop(void);
/* Replaces the top of the stack; NULL takes it off. */
CUresult context_set(struct context *context);

/* CUDA_ERROR_OUT_OF_MEMORY, and no effect, where the device has no room for it. */
CUresult context_set_limit(struct context *context, CUlimit limit, size_t value);
CUresult context_create(struct device *device, unsigned flags, struct context **context);
void context_destroy(struct context *context);
CUresult context_retain_primary(struct device *device, struct context **context);
CUresult context_release_primary(struct device *device);
void context_reset_primary(struct device *device);

/* Device memory for the context: small pieces share granules. */
CUresult context_take(struct context *context, uint64_t size_bytes, struct span **span);
/* Below 4 GiB, in granules of its own. */
CUresult context_take_low(struct context *context, uint64_t size_bytes, struct span **span);
void context_give(struct context *context, struct span *span);
/* Ends an allocation of the context and gives back what it holds. */
void context_free_block(struct block *block);

#endif
