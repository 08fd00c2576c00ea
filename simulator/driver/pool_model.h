/* SPDX-License-Identifier: MIT */
/*
 * What pool.c offers to the functions of the pool API alone.
 */
#ifndef GPUMEMTRACE_SIMULATOR_POOL_MODEL_H
#define GPUMEMTRACE_SIMULATOR_POOL_MODEL_H

#include "pool.h"

/* NULL: no host memory. */
struct pool *pool_new(struct device *device);
void pool_destroy(struct pool *pool);
CUresult pool_alloc(struct pool *pool, uint64_t size_bytes, CUdeviceptr *address);
void pool_release(struct pool *pool, uint64_t keep_bytes);

#endif
