/* SPDX-License-Identifier: MIT */
/*
 * API functions of default and current pools. Every location (a device or the host) has a default
 * and a current pool for each type of memory.
 */
#include "simulator/driver/machine/call.h"
#include "simulator/driver/memory/mempool.h"

/* Accepts a device or the host, and for managed memory also no location. A host pool without a NUMA
 * node cannot be shared. */
CUresult mempool_check_location(CUmemAllocationType type, const CUmemLocation *location)
{
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return device_at(location->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return location->id ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_NONE:
        return type == CU_MEM_ALLOCATION_TYPE_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult get_pool(const char *function, CUmemoryPool *handle, CUmemAllocationType type,
                         CUmemLocation location,
                         struct mempool *choose(CUmemAllocationType, CUmemLocation))
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) && call_requires(&call, handle != NULL)) {
        call.result = mempool_check_location(type, &location);
        struct mempool *pool = call.result ? NULL : choose(type, location);
        if (pool)
            *handle = (CUmemoryPool)(void *)pool;
        else if (!call.result)
            call.result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return call_end(&call);
}

static CUresult set_pool(const char *function, CUmemAllocationType type, CUmemLocation location,
                         CUmemoryPool handle)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        call.result = mempool_check_location(type, &location);
        struct mempool *pool = call.result ? NULL : mempool_find(&call, handle);
        if (pool && call_requires(&call, !pool->is_imported && pool->type == type &&
                                             pool->location.type == location.type &&
                                             pool->location.id == location.id))
            mempool_make_current(pool);
    }
    return call_end(&call);
}

static CUmemLocation device_location(CUdevice ordinal)
{
    return (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *handle, CUdevice ordinal)
{
    return get_pool(__func__, handle, CU_MEM_ALLOCATION_TYPE_PINNED, device_location(ordinal),
                    mempool_default_of);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *handle, CUdevice ordinal)
{
    return get_pool(__func__, handle, CU_MEM_ALLOCATION_TYPE_PINNED, device_location(ordinal),
                    mempool_current_of);
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle)
{
    return set_pool(__func__, CU_MEM_ALLOCATION_TYPE_PINNED, device_location(ordinal), handle);
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *handle, CUmemLocation *location,
                                CUmemAllocationType type)
{
    if (!location)
        return CUDA_ERROR_INVALID_VALUE;
    return get_pool(__func__, handle, type, *location, mempool_default_of);
}

CUresult cuMemGetMemPool(CUmemoryPool *handle, CUmemLocation *location, CUmemAllocationType type)
{
    if (!location)
        return CUDA_ERROR_INVALID_VALUE;
    return get_pool(__func__, handle, type, *location, mempool_current_of);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool handle)
{
    if (!location)
        return CUDA_ERROR_INVALID_VALUE;
    return set_pool(__func__, type, *location, handle);
}
