/* SPDX-License-Identifier: MIT */
/*
 * Stream-ordered allocation and memory pools. The runtime's structs have other names than the
 * driver's and are converted member by member.
 */
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "context.h"
#include "convert.h"

static cudaError_t allocate_async(enum stream_form form, void **address, size_t size_bytes,
                                  cudaStream_t stream)
{
    CUdeviceptr memory = 0;
    cudaError_t error = cudaSuccess;
    if (size_bytes)
        error = error_of_driver(call_driver()->cuMemAllocAsync[form](&memory, size_bytes, stream));
    if (error == cudaSuccess)
        *address = (void *)(uintptr_t)memory;
    return error;
}

static cudaError_t allocate_from_pool(enum stream_form form, void **address, size_t size_bytes,
                                      cudaMemPool_t pool, cudaStream_t stream)
{
    CUdeviceptr memory = 0;
    cudaError_t error = cudaSuccess;
    if (size_bytes)
        error = error_of_driver(
            call_driver()->cuMemAllocFromPoolAsync[form](&memory, size_bytes, pool, stream));
    if (error == cudaSuccess)
        *address = (void *)(uintptr_t)memory;
    return error;
}

TWIN(_ptsz, cudaMallocAsync, (void **address, size_t size_bytes, cudaStream_t stream),
     NEEDS_CONTEXT, CALL_UNLESS_NULL(address, allocate_async(form, address, size_bytes, stream)))
TWIN(_ptsz, cudaMallocFromPoolAsync,
     (void **address, size_t size_bytes, cudaMemPool_t pool, cudaStream_t stream), NEEDS_CONTEXT,
     CALL_UNLESS_NULL(address, allocate_from_pool(form, address, size_bytes, pool, stream)))
TWIN(_ptsz, cudaFreeAsync, (void *address, cudaStream_t stream), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuMemFreeAsync[form](address_of(address), stream)))

/* --- pools of a device --- */

static cudaError_t get_default_pool(cudaMemPool_t *pool, int ordinal)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error : error_of_driver(call_driver()->cuDeviceGetDefaultMemPool(pool, device));
}

GMT_EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(pool, get_default_pool(pool, device)));
}

static cudaError_t get_pool(cudaMemPool_t *pool, int ordinal)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error : error_of_driver(call_driver()->cuDeviceGetMemPool(pool, device));
}

GMT_EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(pool, get_pool(pool, device)));
}

static cudaError_t set_pool(int ordinal, cudaMemPool_t pool)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error : error_of_driver(call_driver()->cuDeviceSetMemPool(device, pool));
}

GMT_EXPORT cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    return CALL(NEEDS_DEVICES, set_pool(device, pool));
}

/* --- pools of a location (CUDA 13) --- */

typedef CUresult get_pool_of(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type);

static cudaError_t get_of(get_pool_of *get, cudaMemPool_t *pool, struct cudaMemLocation *location,
                          enum cudaMemAllocationType type)
{
    CUmemLocation converted = location_of(location);
    return error_of_driver(get(pool, &converted, (CUmemAllocationType)type));
}

GMT_EXPORT cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool,
                                                struct cudaMemLocation *location,
                                                enum cudaMemAllocationType type)
{
    return CALL(NEEDS_DEVICES,
                CALL_UNLESS_NULL(pool && location, get_of(call_driver()->cuMemGetDefaultMemPool,
                                                          pool, location, type)));
}

GMT_EXPORT cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                         enum cudaMemAllocationType type)
{
    return CALL(NEEDS_DEVICES,
                CALL_UNLESS_NULL(pool && location,
                                 get_of(call_driver()->cuMemGetMemPool, pool, location, type)));
}

static cudaError_t set_of(const struct cudaMemLocation *location, enum cudaMemAllocationType type,
                          cudaMemPool_t pool)
{
    CUmemLocation converted = location_of(location);
    return error_of_driver(
        call_driver()->cuMemSetMemPool(&converted, (CUmemAllocationType)type, pool));
}

GMT_EXPORT cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location,
                                         enum cudaMemAllocationType type, cudaMemPool_t pool)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(location, set_of(location, type, pool)));
}

/* --- one pool --- */

static cudaError_t create_pool(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    const CUmemPoolProps converted = pool_properties_of(properties);
    return error_of_driver(call_driver()->cuMemPoolCreate(pool, &converted));
}

GMT_EXPORT cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool,
                                         const struct cudaMemPoolProps *properties)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(pool && properties, create_pool(pool, properties)));
}

GMT_EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuMemPoolDestroy(pool)));
}

GMT_EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep_bytes)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuMemPoolTrimTo(pool, keep_bytes)));
}

GMT_EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                               void *value)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuMemPoolSetAttribute(
                                   pool, (CUmemPool_attribute)attribute, value)));
}

GMT_EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                               void *value)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuMemPoolGetAttribute(
                                   pool, (CUmemPool_attribute)attribute, value)));
}

/* Sets access one by one, because the driver's array has another element type and any length. */
static cudaError_t set_access(cudaMemPool_t pool, const struct cudaMemAccessDesc *accesses,
                              size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        const CUmemAccessDesc access = {location_of(&accesses[i].location),
                                        (CUmemAccess_flags)accesses[i].flags};
        error = error_of_driver(call_driver()->cuMemPoolSetAccess(pool, &access, 1));
    }
    return error;
}

GMT_EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                            const struct cudaMemAccessDesc *accesses, size_t count)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(accesses, set_access(pool, accesses, count)));
}

static cudaError_t get_access(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                              const struct cudaMemLocation *location)
{
    CUmemLocation converted = location_of(location);
    CUmemAccess_flags answer;
    const cudaError_t error =
        error_of_driver(call_driver()->cuMemPoolGetAccess(&answer, pool, &converted));
    if (error == cudaSuccess)
        *flags = (enum cudaMemAccessFlags)answer;
    return error;
}

GMT_EXPORT cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                            struct cudaMemLocation *location)
{
    return CALL(NEEDS_DEVICES,
                CALL_UNLESS_NULL(flags && location, get_access(flags, pool, location)));
}
