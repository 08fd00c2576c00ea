/* SPDX-License-Identifier: MIT */
/*
 * How pools reserve, hand out and give back. See pool.h; the API's functions are in pool_api.c.
 */
#include "pool_model.h"

#include <stdlib.h>

#define SEGMENT_BYTES ((uint64_t)32 << 20)

static struct pool *pools;

struct pool *pool_new(struct device *device)
{
    struct pool *pool = object_new(OBJECT_POOL, NULL, sizeof *pool);
    if (!pool)
        return NULL;
    for (size_t i = 0; i < sizeof pool->reuse / sizeof pool->reuse[0]; i++)
        pool->reuse[i] = 1;
    pool->device = device;
    pool->next = pools;
    pools = pool;
    return pool;
}

struct pool *pool_default(struct device *device)
{
    if (!device->default_pool)
        device->default_pool = pool_new(device);
    if (!device->pool)
        device->pool = device->default_pool;
    return device->default_pool;
}

/* Gives whole free segments back as long as no less than keep_bytes stay reserved. */
void pool_release(struct pool *pool, uint64_t keep_bytes)
{
    struct span *span = heap_free_from(&pool->heap, 0, 0);
    while (span) {
        const uint64_t size_bytes = span->size_bytes, address = span->address;
        struct span *segment = span->parent;
        if (span_is_region(span) && pool->reserved_bytes - keep_bytes >= size_bytes &&
            pool->reserved_bytes >= keep_bytes) {
            heap_drop(&pool->heap, span);
            device_give(pool->device, segment);
            pool->reserved_bytes -= size_bytes;
        }
        span = heap_free_from(&pool->heap, size_bytes, address + 1);
    }
}

static CUresult add_segment(struct pool *pool, uint64_t size_bytes)
{
    struct span *segment;
    if (pool->limit_bytes &&
        (size_bytes > pool->limit_bytes || pool->reserved_bytes > pool->limit_bytes - size_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = device_take(pool->device, size_bytes, &segment);
    if (result)
        return result;
    if (heap_add(&pool->heap, segment->address, segment->size_bytes, segment)) {
        device_give(pool->device, segment);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pool->reserved_bytes += segment->size_bytes;
    if (pool->reserved_bytes > pool->reserved_high_bytes)
        pool->reserved_high_bytes = pool->reserved_bytes;
    return CUDA_SUCCESS;
}

/* A round segment if there is room for one, else just what is needed, else the same after giving
 * back what the pool keeps unused. */
static CUresult grow(struct pool *pool, uint64_t size_bytes)
{
    uint64_t segment_bytes, least_bytes;
    if (round_up_overflows(size_bytes, SEGMENT_BYTES, &segment_bytes) ||
        round_up_overflows(size_bytes, GRANULE_BYTES, &least_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!add_segment(pool, segment_bytes) || !add_segment(pool, least_bytes))
        return CUDA_SUCCESS;
    pool_release(pool, 0);
    return add_segment(pool, least_bytes);
}

static CUresult take(struct pool *pool, uint64_t size_bytes, struct span **span)
{
    uint64_t rounded_bytes;
    if (round_up_overflows(size_bytes, BLOCK_UNIT_BYTES, &rounded_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *span = heap_take(&pool->heap, rounded_bytes);
    if (*span)
        return CUDA_SUCCESS;
    const CUresult result = grow(pool, rounded_bytes);
    if (result)
        return result;
    *span = heap_take(&pool->heap, rounded_bytes);
    return *span ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult pool_alloc(struct pool *pool, uint64_t size_bytes, CUdeviceptr *address)
{
    struct block model = {
        .kind = BLOCK_POOL,
        .size_bytes = size_bytes,
        .device = pool->device,
        .pool = pool,
    };
    const CUresult result = take(pool, size_bytes, &model.span);
    if (result)
        return result;
    model.address = model.span->address;
    if (!block_new(&model)) {
        heap_give(&pool->heap, model.span);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pool->used_bytes += model.span->size_bytes;
    if (pool->used_bytes > pool->used_high_bytes)
        pool->used_high_bytes = pool->used_bytes;
    *address = model.address;
    return CUDA_SUCCESS;
}

static void forget(struct pool *pool)
{
    struct pool **place = &pools;
    while (*place != pool)
        place = &(*place)->next;
    *place = pool->next;
    object_delete(pool);
}

void pool_free_block(struct block *block)
{
    struct pool *pool = block->pool;
    pool->used_bytes -= block->span->size_bytes;
    heap_give(&pool->heap, block->span);
    block_delete(block);
    if (pool->destroyed)
        pool_destroy(pool);
}

/* Live pieces stay usable; the pool goes with the last of them. */
void pool_destroy(struct pool *pool)
{
    struct device *device = pool->device;
    pool->destroyed = true;
    if (device->pool == pool)
        device->pool = device->default_pool;
    pool_release(pool, 0);
    if (!pool->used_bytes)
        forget(pool);
}

void pool_synchronize(void)
{
    for (struct pool *pool = pools; pool; pool = pool->next)
        pool_release(pool, pool->release_threshold_bytes);
}
