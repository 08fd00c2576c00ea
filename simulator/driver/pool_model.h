/* SPDX-License-Identifier: MIT */
/*
 * What pool.c offers to the functions of the pool API alone.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_POOL_MODEL_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_POOL_MODEL_H

#include "call.h"
#include "pool.h"

/* NULL: no host memory. */
struct pool *pool_new(CUmemAllocationType type, CUmemLocation location);
/* NULL: the call's result is set. */
struct pool *pool_find(struct call *call, CUmemoryPool handle);
/* Can there be a pool of this type there? */
CUresult pool_check_place(CUmemAllocationType type, const CUmemLocation *location);
bool pool_is_on_device(const struct pool *pool);
/* The pool of a location that is used where none is named; made when first asked for. NULL: no host
 * memory. */
struct pool *pool_default_of(CUmemAllocationType type, CUmemLocation location);
struct pool *pool_current_of(CUmemAllocationType type, CUmemLocation location);
void pool_make_current(struct pool *pool);
CUresult pool_import_piece(struct pool *pool, const struct share_name *name, CUdeviceptr *address);
void pool_destroy(struct pool *pool);
CUresult pool_alloc(struct pool *pool, uint64_t size_bytes, CUdeviceptr *address);
void pool_release(struct pool *pool, uint64_t keep_bytes);

#endif
