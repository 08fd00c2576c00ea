/* SPDX-License-Identifier: MIT */
/*
 * Accounts of graph memory, one for each device. See graph_memory.h.
 */
#include "graph_memory.h"

#include <stdlib.h>
#include <string.h>

#include "simulator/driver/machine/call.h"

struct graph_memory {
    struct graph_mapping *mappings;
    uint64_t live_bytes;
    uint64_t used_bytes, used_high_bytes;
    uint64_t reserved_bytes, reserved_high_bytes;
};

static struct graph_memory graph_memories[SIM_DEVICE_LIMIT];

static struct graph_memory *graph_memory_of(const struct device *device)
{
    return &graph_memories[device->ordinal];
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The memory that a mapped graph needs in addition to its own live allocations. */
static uint64_t transient_bytes(const struct graph_mapping *mapping)
{
    return mapping->is_mapped ? mapping->peak_bytes - mapping->live_bytes : 0;
}

static void graph_memory_settle(struct graph_memory *own)
{
    uint64_t most_bytes = 0;
    for (const struct graph_mapping *m = own->mappings; m; m = m->next)
        most_bytes = larger(most_bytes, transient_bytes(m));
    own->used_bytes = own->live_bytes + most_bytes;
    own->used_high_bytes = larger(own->used_high_bytes, own->used_bytes);
    own->reserved_high_bytes = larger(own->reserved_high_bytes, own->reserved_bytes);
}

/* --- allocations --- */

CUresult graph_allocation_new(const CUDA_MEM_ALLOC_NODE_PARAMS *parameters, struct graph *owner,
                              struct graph_allocation **result)
{
    struct block model = {.kind = BLOCK_GRAPH, .size_bytes = parameters->bytesize};
    struct graph_allocation *allocation = calloc(1, sizeof *allocation);
    if (!allocation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    model.device = device_at(parameters->poolProps.location.id);
    model.allocation = allocation;
    if (round_up_overflows(model.size_bytes, BLOCK_UNIT_BYTES, &allocation->held_bytes) ||
        device_reserve(model.device, model.size_bytes, &model.span))
        goto failed;
    model.address = model.span->address;
    allocation->block = block_new(&model);
    if (!allocation->block) {
        device_unreserve(model.device, model.span);
        goto failed;
    }
    allocation->owner = owner;
    allocation->reference_count = 1;
    *result = allocation;
    return CUDA_SUCCESS;
failed:
    free(allocation);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

void graph_allocation_retain(struct graph_allocation *allocation)
{
    allocation->reference_count++;
}

void graph_allocation_release(struct graph_allocation *allocation)
{
    if (--allocation->reference_count)
        return;
    device_unreserve(allocation->block->device, allocation->block->span);
    block_delete(allocation->block);
    free(allocation);
}

struct graph_allocation *graph_allocation_at(uint64_t address)
{
    const struct block *block = block_at(address);
    return block && block->kind == BLOCK_GRAPH ? block->allocation : NULL;
}

void graph_allocation_begin(struct graph_allocation *allocation)
{
    struct graph_memory *own = graph_memory_of(allocation->block->device);
    allocation->is_live = true;
    graph_allocation_retain(allocation);
    own->live_bytes += allocation->held_bytes;
    if (allocation->mapping)
        allocation->mapping->live_bytes += allocation->held_bytes;
    graph_memory_settle(own);
}

void graph_allocation_end(struct graph_allocation *allocation)
{
    struct graph_memory *own = graph_memory_of(allocation->block->device);
    allocation->is_live = false;
    own->live_bytes -= allocation->held_bytes;
    if (allocation->mapping)
        allocation->mapping->live_bytes -= allocation->held_bytes;
    graph_memory_settle(own);
    graph_allocation_release(allocation);
}

bool graph_memory_free_block(struct block *block)
{
    if (!block->allocation->is_live)
        return false;
    graph_allocation_end(block->allocation);
    return true;
}

/* --- mappings --- */

void graph_mapping_add(struct graph_mapping *mapping)
{
    struct graph_memory *own = graph_memory_of(mapping->device);
    mapping->next = own->mappings;
    own->mappings = mapping;
}

void graph_mapping_remove(struct graph_mapping *mapping)
{
    struct graph_memory *own = graph_memory_of(mapping->device);
    struct graph_mapping **place = &own->mappings;
    while (*place != mapping)
        place = &(*place)->next;
    *place = mapping->next;
    graph_memory_settle(own);
}

CUresult graph_mapping_map(struct graph_mapping *mapping)
{
    struct graph_memory *own = graph_memory_of(mapping->device);
    uint64_t needed_bytes;
    if (round_up_overflows(own->live_bytes - mapping->live_bytes + mapping->peak_bytes,
                           GRANULE_BYTES, &needed_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (needed_bytes > own->reserved_bytes) {
        const CUresult result = device_charge(mapping->device, needed_bytes - own->reserved_bytes);
        if (result)
            return result;
        own->reserved_bytes = needed_bytes;
    }
    mapping->is_mapped = true;
    graph_memory_settle(own);
    return CUDA_SUCCESS;
}

/* --- the API's functions --- */

CUresult cuDeviceGraphMemTrim(CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct device *device = call_device(&call, ordinal);
        uint64_t kept_bytes;
        if (!device ||
            round_up_overflows(graph_memory_of(device)->live_bytes, GRANULE_BYTES, &kept_bytes))
            goto out;
        struct graph_memory *own = graph_memory_of(device);
        for (struct graph_mapping *m = own->mappings; m; m = m->next)
            m->is_mapped = false;
        device_discharge(device, own->reserved_bytes - kept_bytes);
        own->reserved_bytes = kept_bytes;
        graph_memory_settle(own);
    }
out:
    return call_end(&call);
}

/* The value of a graph memory attribute; NULL: no such attribute. */
static const uint64_t *attribute_find(const struct graph_memory *own,
                                      CUgraphMem_attribute attribute)
{
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        return &own->used_bytes;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        return &own->used_high_bytes;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        return &own->reserved_bytes;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        return &own->reserved_high_bytes;
    default:
        return NULL;
    }
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void *value)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct device *device = call_device(&call, ordinal);
        const uint64_t *bytes = device ? attribute_find(graph_memory_of(device), attribute) : NULL;
        if (device && call_requires(&call, value && bytes))
            memcpy(value, bytes, sizeof *bytes);
    }
    return call_end(&call);
}

/* High-water marks accept only 0, which resets them to the current value. */
CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void *value)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct device *device = call_device(&call, ordinal);
        struct graph_memory *own = device ? graph_memory_of(device) : NULL;
        if (!own || !call_requires(&call, value && *(const cuuint64_t *)value == 0))
            goto out;
        if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
            own->used_high_bytes = own->used_bytes;
        else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
            own->reserved_high_bytes = own->reserved_bytes;
        else
            call.result = CUDA_ERROR_INVALID_VALUE;
    }
out:
    return call_end(&call);
}
