/* SPDX-License-Identifier: MIT */
/*
 * Binding memory to multicast objects. See multicast.h.
 */
#include "multicast.h"

#include <stdlib.h>

#include "gpumemtrace/compiler.h"
#include "physical.h"

/* A part of a device's memory that is bound at an offset of the object. */
struct binding {
    struct binding *next;
    struct physical *memory;
    uint64_t offset_bytes, size_bytes;
};

struct multicast {
    CUmulticastObjectProp properties;
    uint64_t devices; /* one bit for each device added */
    unsigned device_count;
    struct binding *bindings;
};

static void binding_drop(struct binding **place)
{
    struct binding *binding = *place;
    *place = binding->next;
    physical_drop(binding->memory);
    free(binding);
}

void multicast_delete(struct multicast *multicast)
{
    while (multicast->bindings)
        binding_drop(&multicast->bindings);
    free(multicast);
}

/* Multicast needs compute capability 9.0 or later on every device. */
static bool is_supported(void)
{
    return device_spec()->capability_major >= 9;
}

static bool is_valid(const CUmulticastObjectProp *properties)
{
    return physical_is_granular(properties->size) && properties->numDevices && !properties->flags &&
           !(properties->handleTypes &
             ~(unsigned long long)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

static CUresult multicast_create(const CUmulticastObjectProp *properties,
                                 CUmemGenericAllocationHandle *handle)
{
    const CUmemAllocationProp none = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    struct multicast *multicast = calloc(1, sizeof *multicast);
    struct physical *physical = multicast ? physical_new(NULL, &none, properties->size) : NULL;
    if (!physical) {
        free(multicast);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    multicast->properties = *properties;
    physical->multicast = multicast;
    *handle = physical_handle(physical);
    return CUDA_SUCCESS;
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle,
                           const CUmulticastObjectProp *properties)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, handle && properties) && call_requires(&call, is_valid(properties)))
        call.result =
            is_supported() ? multicast_create(properties, handle) : CUDA_ERROR_NOT_SUPPORTED;
    return call_end(&call);
}

CUresult cuMulticastGetGranularity(size_t *granularity_bytes,
                                   const CUmulticastObjectProp *properties,
                                   GMT_UNUSED CUmulticastGranularity_flags option)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, granularity_bytes && properties)) {
        if (is_supported())
            *granularity_bytes = GRANULE_BYTES;
        else
            call.result = CUDA_ERROR_NOT_SUPPORTED;
    }
    return call_end(&call);
}

/* Returns the multicast object with this handle. If there is none, sets the call's result and
 * returns NULL. */
static struct multicast *multicast_find(struct call *call, CUmemGenericAllocationHandle handle)
{
    const struct physical *physical = physical_find(handle);
    call_requires(call, physical && physical->multicast);
    return call->result ? NULL : physical->multicast;
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct multicast *multicast = multicast_find(&call, handle);
        const uint64_t bit = multicast && call_device(&call, ordinal) ? (uint64_t)1 << ordinal : 0;
        if (bit &&
            call_requires(&call, !(multicast->devices & bit) &&
                                     multicast->device_count < multicast->properties.numDevices)) {
            multicast->devices |= bit;
            multicast->device_count++;
        }
    }
    return call_end(&call);
}

/* All devices must have been added, and no two bindings of one device may overlap. */
static bool is_bindable(const struct multicast *multicast, const struct physical *memory,
                        uint64_t offset_bytes, uint64_t size_bytes)
{
    uint64_t end;
    if (multicast->device_count < multicast->properties.numDevices || !memory->device ||
        !(multicast->devices >> memory->device->ordinal & 1) || !physical_is_granular(size_bytes) ||
        offset_bytes % GRANULE_BYTES || GMT_ADD_OVERFLOWS(offset_bytes, size_bytes, &end) ||
        end > multicast->properties.size)
        return false;
    for (const struct binding *other = multicast->bindings; other; other = other->next)
        if (other->memory->device == memory->device && other->offset_bytes < end &&
            offset_bytes < other->offset_bytes + other->size_bytes)
            return false;
    return true;
}

static CUresult multicast_bind(struct multicast *multicast, struct physical *memory,
                               uint64_t offset_bytes, uint64_t size_bytes)
{
    if (!is_bindable(multicast, memory, offset_bytes, size_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct binding *binding = malloc(sizeof *binding);
    if (!binding)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *binding = (struct binding){multicast->bindings, memory, offset_bytes, size_bytes};
    multicast->bindings = binding;
    physical_hold(memory);
    return CUDA_SUCCESS;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset_bytes,
                            CUmemGenericAllocationHandle memory_handle, size_t memory_offset_bytes,
                            size_t size_bytes, unsigned long long flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct multicast *multicast = multicast_find(&call, handle);
        struct physical *memory = physical_find(memory_handle);
        if (multicast &&
            call_requires(&call, memory && !memory->multicast && !flags &&
                                     memory_offset_bytes % GRANULE_BYTES == 0 &&
                                     memory_offset_bytes <= memory->size_bytes &&
                                     size_bytes <= memory->size_bytes - memory_offset_bytes))
            call.result = multicast_bind(multicast, memory, offset_bytes, size_bytes);
    }
    return call_end(&call);
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset_bytes,
                             CUdeviceptr address, size_t size_bytes, unsigned long long flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct multicast *multicast = multicast_find(&call, handle);
        const struct block *block = block_containing(address);
        if (multicast &&
            call_requires(&call, block && block->kind == BLOCK_MAPPED &&
                                     !block->physical->multicast && !flags &&
                                     address % GRANULE_BYTES == 0 &&
                                     size_bytes <= block->size_bytes - (address - block->address)))
            call.result = multicast_bind(multicast, block->physical, offset_bytes, size_bytes);
    }
    return call_end(&call);
}

/* Removes the device's bindings that lie in the range. */
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice ordinal,
                           size_t offset_bytes, size_t size_bytes)
{
    struct call call;
    if (!call_begin(&call, __func__, CALL_NEEDS_INIT))
        goto out;
    struct multicast *multicast = multicast_find(&call, handle);
    const struct device *device = multicast ? call_device(&call, ordinal) : NULL;
    struct binding **place = device ? &multicast->bindings : NULL;
    while (place && *place) {
        const struct binding *binding = *place;
        if (binding->memory->device == device && binding->offset_bytes >= offset_bytes &&
            binding->size_bytes <= size_bytes &&
            binding->offset_bytes - offset_bytes <= size_bytes - binding->size_bytes)
            binding_drop(place);
        else
            place = &(*place)->next;
    }
out:
    return call_end(&call);
}
