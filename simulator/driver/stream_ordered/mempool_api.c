/* SPDX-License-Identifier: MIT */
/*
 * API functions of stream-ordered allocation and memory pools. See mempool.h.
 */
#include <string.h>

#include "simulator/driver/machine/call.h"
#include "simulator/driver/stream/capture.h"
#include "gpumemtrace/compiler.h"
#include "simulator/driver/memory/graph_memory.h"
#include "simulator/driver/memory/mempool.h"
#include "simulator/driver/stream/stream.h"

struct mempool *mempool_find(struct call *call, CUmemoryPool handle)
{
    struct mempool *pool = object_find(handle, OBJECT_POOL);
    if (pool && !pool->destroyed)
        return pool;
    call->result = CUDA_ERROR_INVALID_VALUE;
    return NULL;
}

static CUmemLocation location_of(const struct device *device)
{
    return (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device->ordinal};
}

/* Returns the device's current pool. If there is none, sets the call's result and returns NULL. */
static struct mempool *current_pool(struct call *call, const struct device *device)
{
    struct mempool *pool = mempool_current_of(CU_MEM_ALLOCATION_TYPE_PINNED, location_of(device));
    if (!pool)
        call->result = CUDA_ERROR_OUT_OF_MEMORY;
    return pool;
}

static CUmemoryPool handle_of(struct mempool *pool)
{
    return (CUmemoryPool)(void *)pool;
}

/* In a captured stream, adds an allocation node, which takes graph memory instead of pool
 * memory. */
static CUresult pool_allocate(struct call *call, struct mempool *pool, size_t size_bytes,
                              CUstream stream, CUdeviceptr *address)
{
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    work.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    work.alloc.poolProps.location = pool->location;
    work.alloc.bytesize = size_bytes;
    if (capture_lets_through(call, stream, &work))
        return mempool_alloc(pool, size_bytes, address);
    if (!call->result)
        *address = work.alloc.dptr;
    return call->result;
}

static CUresult do_cuMemAllocAsync(const char *function, CUdeviceptr *address, size_t size_bytes,
                                   CUstream stream)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        call_requires(&call, address && size_bytes)) {
        struct mempool *pool = current_pool(&call, stream_device(&call, stream));
        if (pool)
            call.result = pool_allocate(&call, pool, size_bytes, stream, address);
    }
    return call_end(&call);
}

TWIN(_ptsz, cuMemAllocAsync, (CUdeviceptr * address, size_t size_bytes, CUstream stream), address,
     size_bytes, stream)

static CUresult do_cuMemAllocFromPoolAsync(const char *function, CUdeviceptr *address,
                                           size_t size_bytes, CUmemoryPool handle, CUstream stream)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        call_requires(&call, address && size_bytes)) {
        struct mempool *pool = mempool_find(&call, handle);
        if (pool && call_requires(&call, !pool->is_imported))
            call.result = pool_allocate(&call, pool, size_bytes, stream, address);
    }
    return call_end(&call);
}

TWIN(_ptsz, cuMemAllocFromPoolAsync,
     (CUdeviceptr * address, size_t size_bytes, CUmemoryPool pool, CUstream stream), address,
     size_bytes, pool, stream)

static CUresult free_now(uint64_t address)
{
    struct block *block = block_at(address);
    if (block && block->kind == BLOCK_GRAPH)
        return graph_memory_free_block(block) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (!block || !block->pool)
        return CUDA_ERROR_INVALID_VALUE;
    mempool_free_block(block);
    return CUDA_SUCCESS;
}

static CUresult do_cuMemFreeAsync(const char *function, CUdeviceptr address, CUstream stream)
{
    struct call call;
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    work.free.dptr = address;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) && address &&
        capture_lets_through(&call, stream, &work))
        call.result = free_now(address);
    return call_end(&call);
}

TWIN(_ptsz, cuMemFreeAsync, (CUdeviceptr address, CUstream stream), address, stream)

static CUresult pool_check_properties(const CUmemPoolProps *properties)
{
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED &&
        properties->allocType != CU_MEM_ALLOCATION_TYPE_MANAGED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (properties->handleTypes && (properties->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED ||
                                    properties->location.type == CU_MEM_LOCATION_TYPE_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    return mempool_check_location(properties->allocType, &properties->location);
}

CUresult cuMemPoolCreate(CUmemoryPool *handle, const CUmemPoolProps *properties)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, handle && properties))
        call.result = pool_check_properties(properties);
    if (call.result)
        goto out;
    struct mempool *pool = mempool_new(properties->allocType, properties->location);
    if (pool) {
        pool->limit_bytes = properties->maxSize;
        pool->handle_types = properties->handleTypes;
        *handle = handle_of(pool);
    } else {
        call.result = CUDA_ERROR_OUT_OF_MEMORY;
    }
out:
    return call_end(&call);
}

CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct mempool *pool = mempool_find(&call, handle);
        if (pool && call_requires(&call, !pool->is_default))
            mempool_destroy(pool);
    }
    return call_end(&call);
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep_bytes)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct mempool *pool = mempool_find(&call, handle);
        if (pool)
            mempool_release(pool, keep_bytes);
    }
    return call_end(&call);
}

/* Returns the place of an attribute of type cuuint64_t; NULL: the attribute has another type. */
static uint64_t *attribute_uint64(struct mempool *pool, CUmemPool_attribute attribute)
{
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return &pool->release_threshold_bytes;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        return &pool->reserved_bytes;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        return &pool->reserved_high_bytes;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return &pool->used_bytes;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return &pool->used_high_bytes;
    default:
        return NULL;
    }
}

/* Returns the place of an attribute of type int; NULL: the attribute has another type. */
static int *attribute_int(struct mempool *pool, CUmemPool_attribute attribute)
{
    if (attribute < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attribute > CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        return NULL;
    return &pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
}

/* High-water marks accept only 0, which resets them to the current value. */
static CUresult set_quantity(struct mempool *pool, CUmemPool_attribute attribute, uint64_t value)
{
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->release_threshold_bytes = value;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && value == 0)
        pool->reserved_high_bytes = pool->reserved_bytes;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && value == 0)
        pool->used_high_bytes = pool->used_bytes;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct mempool *pool = mempool_find(&call, handle);
        int *flag = pool ? attribute_int(pool, attribute) : NULL;
        if (!pool || !call_requires(&call, value != NULL))
            goto out;
        if (flag)
            memcpy(flag, value, sizeof *flag);
        else
            call.result = set_quantity(pool, attribute, *(const cuuint64_t *)value);
    }
out:
    return call_end(&call);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct mempool *pool = mempool_find(&call, handle);
        const int *flag = pool ? attribute_int(pool, attribute) : NULL;
        const uint64_t *bytes = pool ? attribute_uint64(pool, attribute) : NULL;
        if (!pool || !call_requires(&call, value && (flag || bytes)))
            goto out;
        if (flag)
            memcpy(value, flag, sizeof *flag);
        else
            memcpy(value, bytes, sizeof *bytes);
    }
out:
    return call_end(&call);
}

/* Has no effect, because every device can always access every pool. */
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *accesses, size_t count)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && mempool_find(&call, handle) &&
        call_requires(&call, accesses || !count))
        for (size_t i = 0; i < count && !call.result; i++)
            call.result =
                mempool_check_location(CU_MEM_ALLOCATION_TYPE_PINNED, &accesses[i].location);
    return call_end(&call);
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle, CUmemLocation *location)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && mempool_find(&call, handle) &&
        call_requires(&call, flags && location &&
                                 !mempool_check_location(CU_MEM_ALLOCATION_TYPE_PINNED, location)))
        *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return call_end(&call);
}
