/* SPDX-License-Identifier: MIT */
/*
 * Reserving, allocating and releasing memory of pools. See mempool.h; the API functions are in
 * stream_ordered/.
 */
#include "mempool.h"

#include <stdlib.h>

#include "simulator/driver/machine/host.h"

#define SEGMENT_BYTES ((uint64_t)32 << 20)

static struct mempool *pools;

struct mempool *mempool_new(CUmemAllocationType type, CUmemLocation location)
{
    static uint64_t last_id;
    const bool names_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    struct mempool *pool = object_new(OBJECT_POOL, NULL, sizeof *pool);
    if (!pool)
        return NULL;
    for (size_t i = 0; i < sizeof pool->reuse / sizeof pool->reuse[0]; i++)
        pool->reuse[i] = 1;
    pool->device = device_at(names_device ? location.id : 0);
    pool->type = type;
    pool->location = location;
    pool->id = ++last_id;
    pool->next = pools;
    pools = pool;
    return pool;
}

bool mempool_is_on_device(const struct mempool *pool)
{
    return pool->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
           pool->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

/* --- default and current pools --- */

/* Compares the location's id only for the types of location that have one. */
static bool is_of(const struct mempool *pool, CUmemAllocationType type, CUmemLocation location)
{
    return pool->type == type && pool->location.type == location.type &&
           (location.type == CU_MEM_LOCATION_TYPE_HOST ||
            location.type == CU_MEM_LOCATION_TYPE_NONE || pool->location.id == location.id);
}

struct mempool *mempool_default_of(CUmemAllocationType type, CUmemLocation location)
{
    struct mempool *pool = pools;
    while (pool && !(pool->is_default && is_of(pool, type, location)))
        pool = pool->next;
    if (!pool) {
        pool = mempool_new(type, location);
        if (pool)
            pool->is_default = true;
    }
    return pool;
}

struct mempool *mempool_current_of(CUmemAllocationType type, CUmemLocation location)
{
    for (struct mempool *pool = pools; pool; pool = pool->next)
        if (pool->is_current && is_of(pool, type, location))
            return pool;
    return mempool_default_of(type, location);
}

void mempool_make_current(struct mempool *pool)
{
    for (struct mempool *other = pools; other; other = other->next)
        if (is_of(other, pool->type, pool->location))
            other->is_current = false;
    pool->is_current = true;
}

/* --- memory --- */

struct extent {
    uint64_t address, size_bytes;
    struct span *span; /* NULL: host pages */
};

static CUresult take_memory(const struct mempool *pool, uint64_t size_bytes, struct extent *extent)
{
    *extent = (struct extent){.size_bytes = size_bytes};
    if (!mempool_is_on_device(pool)) {
        extent->address = host_map(size_bytes);
        return extent->address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    const CUresult result = device_take(pool->device, size_bytes, &extent->span);
    if (!result)
        extent->address = extent->span->address;
    return result;
}

static void give_memory(const struct mempool *pool, const struct extent *extent)
{
    if (extent->span)
        device_give(pool->device, extent->span);
    else
        host_unmap(extent->address, extent->size_bytes);
}

/* Releases unused segments while at least keep_bytes stay reserved. */
void mempool_release(struct mempool *pool, uint64_t keep_bytes)
{
    struct span *span = heap_free_from(&pool->heap, 0, 0);
    while (span) {
        const uint64_t size_bytes = span->size_bytes, address = span->address;
        const struct extent extent = {address, size_bytes, span->parent};
        if (span_is_region(span) && pool->reserved_bytes - keep_bytes >= size_bytes &&
            pool->reserved_bytes >= keep_bytes) {
            heap_drop(&pool->heap, span);
            give_memory(pool, &extent);
            pool->reserved_bytes -= size_bytes;
        }
        span = heap_free_from(&pool->heap, size_bytes, address + 1);
    }
}

static CUresult add_segment(struct mempool *pool, uint64_t size_bytes)
{
    struct extent segment;
    if (pool->limit_bytes &&
        (size_bytes > pool->limit_bytes || pool->reserved_bytes > pool->limit_bytes - size_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = take_memory(pool, size_bytes, &segment);
    if (result)
        return result;
    if (heap_add(&pool->heap, segment.address, size_bytes, segment.span)) {
        give_memory(pool, &segment);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pool->reserved_bytes += size_bytes;
    if (pool->reserved_bytes > pool->reserved_high_bytes)
        pool->reserved_high_bytes = pool->reserved_bytes;
    return CUDA_SUCCESS;
}

/* Adds a segment of the usual size. If the device has no room for it, adds a segment of the size
 * that is needed. If there is no room for that either, first releases all unused segments. */
static CUresult pool_grow(struct mempool *pool, uint64_t size_bytes)
{
    uint64_t segment_bytes, least_bytes;
    if (round_up_overflows(size_bytes, SEGMENT_BYTES, &segment_bytes) ||
        round_up_overflows(size_bytes, GRANULE_BYTES, &least_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!add_segment(pool, segment_bytes) || !add_segment(pool, least_bytes))
        return CUDA_SUCCESS;
    mempool_release(pool, 0);
    return add_segment(pool, least_bytes);
}

static CUresult pool_take(struct mempool *pool, uint64_t size_bytes, struct span **span)
{
    uint64_t rounded_bytes;
    if (round_up_overflows(size_bytes, BLOCK_UNIT_BYTES, &rounded_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *span = heap_take(&pool->heap, rounded_bytes);
    if (*span)
        return CUDA_SUCCESS;
    const CUresult result = pool_grow(pool, rounded_bytes);
    if (result)
        return result;
    *span = heap_take(&pool->heap, rounded_bytes);
    return *span ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mempool_alloc(struct mempool *pool, uint64_t size_bytes, CUdeviceptr *address)
{
    struct block model = {
        .kind = BLOCK_POOL,
        .size_bytes = size_bytes,
        .device = pool->device,
        .pool = pool,
        .is_managed_pool = pool->type == CU_MEM_ALLOCATION_TYPE_MANAGED,
        .is_host_pool = pool->type == CU_MEM_ALLOCATION_TYPE_PINNED && !mempool_is_on_device(pool),
    };
    const CUresult result = pool_take(pool, size_bytes, &model.span);
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

static void pool_unlink(struct mempool *pool)
{
    struct mempool **place = &pools;
    while (*place != pool)
        place = &(*place)->next;
    *place = pool->next;
    object_delete(pool);
}

void mempool_free_block(struct block *block)
{
    struct mempool *pool = block->pool;
    pool->used_bytes -= block->span->size_bytes;
    if (block->kind == BLOCK_IMPORTED)
        device_unreserve(block->device, block->span);
    else
        heap_give(&pool->heap, block->span);
    block_delete(block);
    if (pool->destroyed)
        mempool_destroy(pool);
}

/* Maps an allocation of the exporter at an address of this process. */
CUresult mempool_import_piece(struct mempool *pool, const struct share_name *name,
                              CUdeviceptr *address)
{
    struct block model = {
        .kind = BLOCK_IMPORTED,
        .size_bytes = name->size_bytes,
        .device = pool->device,
        .pool = pool,
        .name = *name,
    };
    if (device_reserve(pool->device, name->size_bytes, &model.span))
        return CUDA_ERROR_OUT_OF_MEMORY;
    model.address = model.span->address;
    if (!block_new(&model)) {
        device_unreserve(pool->device, model.span);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pool->used_bytes += model.span->size_bytes;
    *address = model.address;
    return CUDA_SUCCESS;
}

/* Allocations from the pool stay valid; the pool is freed with the last of them. */
void mempool_destroy(struct mempool *pool)
{
    pool->destroyed = true;
    pool->is_current = false;
    mempool_release(pool, 0);
    if (!pool->used_bytes)
        pool_unlink(pool);
}

void mempool_synchronize(void)
{
    for (struct mempool *pool = pools; pool; pool = pool->next)
        mempool_release(pool, pool->release_threshold_bytes);
}
