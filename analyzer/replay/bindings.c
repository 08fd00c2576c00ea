/* SPDX-License-Identifier: MIT */
/* Bindings by container; see bindings.h. */
#include "bindings.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* A VMM object bound at an offset of a container: a multicast object or a sparse array. */
struct binding {
    uint64_t start;
    uint32_t object;
    uint32_t next; /* of the same container, or HISTORY_NONE */
};

/* A stretch of a container. In a multicast object each device has stretches of its own. */
struct stretch {
    uint32_t container; /* block */
    int device;         /* DEVICE_UNKNOWN: of every device */
    uint64_t start, size_bytes;
};

void bindings_release(struct bindings *bindings)
{
    free(bindings->items);
    address_map_release(&bindings->first);
}

static bool is_container(const struct blocks *blocks, uint32_t block)
{
    uint8_t memory = blocks->at.history->blocks[block].memory;
    return memory == MEMORY_MULTICAST || memory == MEMORY_ARRAY;
}

/* The block of the multicast object or array with that handle; HISTORY_NONE: not recorded. */
static uint32_t container_of(const struct vmm *vmm, const struct blocks *blocks, uint64_t handle)
{
    uint32_t object = vmm_object_of(vmm, handle);
    if (object != HISTORY_NONE && is_container(blocks, vmm->objects[object].block))
        return vmm->objects[object].block;
    uint32_t array = address_map_get(&blocks->live, SPACE_ARRAY, handle);
    return array != ADDRESS_MAP_NONE && is_container(blocks, array) ? array : HISTORY_NONE;
}

static int device_of(const struct vmm *vmm, const struct blocks *blocks, uint32_t object)
{
    const struct history *history = blocks->at.history;
    return history->stocks[history->blocks[vmm->objects[object].block].stock].device;
}

static bool is_in(const struct binding *binding, const struct stretch *stretch, int device)
{
    return binding->start >= stretch->start &&
           binding->start - stretch->start < stretch->size_bytes &&
           (stretch->device == DEVICE_UNKNOWN || stretch->device == device);
}

static int set_first(struct bindings *bindings, uint32_t container, uint32_t first, struct err *err)
{
    if (first != HISTORY_NONE)
        return address_map_put(&bindings->first, 0, container, first, err);
    address_map_remove(&bindings->first, 0, container);
    return 0;
}

static int end_bindings_in(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks,
                           const struct stretch *stretch)
{
    uint32_t next, kept = HISTORY_NONE;
    uint32_t i = address_map_get(&bindings->first, 0, stretch->container);
    for (; i != HISTORY_NONE; i = next) {
        struct binding *binding = &bindings->items[i];
        next = binding->next;
        if (!is_in(binding, stretch, device_of(vmm, blocks, binding->object))) {
            binding->next = kept;
            kept = i;
            continue;
        }
        vmm->objects[binding->object].bindings_count--;
        if (vmm_end_if_unused(vmm, blocks, binding->object))
            return -1;
    }
    return set_first(bindings, stretch->container, kept, blocks->at.err);
}

static int add_binding(struct bindings *bindings, const struct stretch *stretch, uint32_t object,
                       struct err *err)
{
    struct binding *grown =
        array_grow(bindings->items, &bindings->capacity, bindings->count, sizeof *grown, err);
    if (!grown)
        return -1;
    bindings->items = grown;
    grown[bindings->count] =
        (struct binding){.start = stretch->start,
                         .object = object,
                         .next = address_map_get(&bindings->first, 0, stretch->container)};
    return set_first(bindings, stretch->container, (uint32_t)bindings->count++, err);
}

int bindings_bind(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    uint32_t object = event->memory == MEMORY_NONE
                          ? driver_ranges_object_at(&blocks->ranges, event->object)
                          : vmm_object_of(vmm, event->object);
    struct stretch stretch = {.container = container_of(vmm, blocks, event->stream),
                              .start = event->address,
                              .size_bytes = event->size_bytes};
    if (event->result != 0 || object == HISTORY_NONE || stretch.container == HISTORY_NONE ||
        is_container(blocks, vmm->objects[object].block))
        return 0;
    stretch.device = device_of(vmm, blocks, object);
    vmm->objects[object].bindings_count++; /* first: the same object may be what was bound there */
    if (end_bindings_in(bindings, vmm, blocks, &stretch))
        return -1;
    return add_binding(bindings, &stretch, object, blocks->at.err);
}

int bindings_unbind(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    struct stretch stretch = {.container = container_of(vmm, blocks, event->stream),
                              .device = event->device,
                              .start = event->address,
                              .size_bytes = event->size_bytes};
    if (event->result != 0 || stretch.container == HISTORY_NONE)
        return 0;
    return end_bindings_in(bindings, vmm, blocks, &stretch);
}

int bindings_end(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks, uint32_t block)
{
    if (!bindings->count || !is_container(blocks, block))
        return 0;
    struct stretch all = {.container = block, .device = DEVICE_UNKNOWN, .size_bytes = UINT64_MAX};
    return end_bindings_in(bindings, vmm, blocks, &all);
}
