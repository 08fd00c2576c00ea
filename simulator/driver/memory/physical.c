/* SPDX-License-Identifier: MIT */
/*
 * API functions that create, share and release physical memory. See physical.h.
 */
#include "physical.h"

#include <string.h>

#include "gpumemtrace/compiler.h"
#include "multicast.h"
#include "simulator/driver/machine/share.h"

bool physical_is_granular(uint64_t size_bytes)
{
    return size_bytes && size_bytes % GRANULE_BYTES == 0;
}

struct physical *physical_find(CUmemGenericAllocationHandle handle)
{
    struct physical *physical = object_find((void *)(uintptr_t)handle, OBJECT_PHYSICAL);
    return physical && physical->handle_count ? physical : NULL;
}

CUmemGenericAllocationHandle physical_handle(struct physical *physical)
{
    return (CUmemGenericAllocationHandle)(uintptr_t)physical;
}

struct physical *physical_new(struct device *device, const CUmemAllocationProp *properties,
                              uint64_t size_bytes)
{
    static uint64_t last_id;
    struct physical *physical = object_new(OBJECT_PHYSICAL, NULL, sizeof *physical);
    if (!physical)
        return NULL;
    physical->device = device;
    physical->properties = *properties;
    physical->size_bytes = size_bytes;
    physical->id = ++last_id;
    physical->handle_count = 1;
    return physical;
}

static void drop_if_unused(struct physical *physical)
{
    struct physical *origin = physical->origin;
    if (physical->handle_count || physical->mapping_count)
        return;
    if (physical->multicast)
        multicast_delete(physical->multicast);
    if (physical->is_charged)
        device_discharge(physical->device, physical->size_bytes);
    object_delete(physical);
    if (origin)
        physical_drop(origin);
}

void physical_hold(struct physical *physical)
{
    physical->mapping_count++;
}

void physical_drop(struct physical *physical)
{
    physical->mapping_count--;
    drop_if_unused(physical);
}

/* --- creating --- */

/* Accepts memory of a device or the host; host memory without a NUMA node cannot be shared. */
static CUresult physical_check(const CUmemAllocationProp *properties)
{
    switch (properties->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return device_at(properties->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
        return properties->requestedHandleTypes ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return properties->location.id ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult physical_create(const CUmemAllocationProp *properties, uint64_t size_bytes,
                                CUmemGenericAllocationHandle *handle)
{
    const bool on_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    struct device *device = on_device ? device_at(properties->location.id) : NULL;
    const CUresult result = device ? device_charge(device, size_bytes) : CUDA_SUCCESS;
    if (result)
        return result;
    struct physical *physical = physical_new(device, properties, size_bytes);
    if (!physical) {
        if (device)
            device_discharge(device, size_bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    physical->is_charged = on_device;
    *handle = physical_handle(physical);
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size_bytes,
                     const CUmemAllocationProp *properties, unsigned long long flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, handle && properties && physical_is_granular(size_bytes) && !flags &&
                                 properties->type == CU_MEM_ALLOCATION_TYPE_PINNED)) {
        call.result = physical_check(properties);
        if (!call.result)
            call.result = physical_create(properties, size_bytes, handle);
    }
    return call_end(&call);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct physical *physical = physical_find(handle);
        if (call_requires(&call, physical != NULL)) {
            physical->handle_count--;
            drop_if_unused(physical);
        }
    }
    return call_end(&call);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity_bytes,
                                       const CUmemAllocationProp *properties,
                                       GMT_UNUSED CUmemAllocationGranularity_flags option)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, granularity_bytes && properties &&
                                 properties->type == CU_MEM_ALLOCATION_TYPE_PINNED))
        *granularity_bytes = GRANULE_BYTES;
    return call_end(&call);
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                CUmemGenericAllocationHandle handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct physical *physical = physical_find(handle);
        if (call_requires(&call, properties && physical && !physical->multicast))
            *properties = physical->properties;
    }
    return call_end(&call);
}

/* --- sharing --- */

#define POSIX CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct physical *physical = physical_find(handle);
        if (!call_requires(&call, shareable && physical && !physical->multicast && !flags &&
                                      type == POSIX &&
                                      physical->properties.requestedHandleTypes & POSIX))
            goto out;
        struct share_name name =
            share_name_of(SHARE_PHYSICAL, physical->id, physical->size_bytes, physical->device);
        name.handle_types = physical->properties.requestedHandleTypes;
        const int descriptor = share_export(&name);
        if (descriptor < 0)
            call.result = CUDA_ERROR_OPERATING_SYSTEM;
        else
            memcpy(shareable, &descriptor, sizeof descriptor);
    }
out:
    return call_end(&call);
}

/* Whether the object is the physical memory that was exported under this name. */
static bool is_origin(const void *object, const void *name)
{
    const struct physical *physical = object;
    return physical->id == ((const struct share_name *)name)->id && !physical->origin;
}

static CUresult physical_import(const struct share_name *name, CUmemGenericAllocationHandle *handle)
{
    CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = (CUmemAllocationHandleType)name->handle_types,
    };
    const CUresult result = share_location(name, &properties.location);
    if (result)
        return result;
    struct physical *physical = physical_new(share_device(name), &properties, name->size_bytes);
    if (!physical)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (share_is_own(name))
        physical->origin = object_find_if(OBJECT_PHYSICAL, is_origin, name);
    if (physical->origin)
        physical_hold(physical->origin);
    *handle = physical_handle(physical);
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                        CUmemAllocationHandleType type)
{
    struct call call;
    struct share_name name;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, handle && type == POSIX &&
                                 share_import((int)(intptr_t)shareable, SHARE_PHYSICAL, &name)))
        call.result = physical_import(&name, handle);
    return call_end(&call);
}
