/* SPDX-License-Identifier: MIT */
/* Bindings by container; see bindings.h. */
#include "bindings.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/*
 * A VMM object bound at an offset. Mip levels of an array are bound without a size, and several may
 * have the same offset.
 */
struct binding {
    uint32_t object;
    uint32_t next; /* binding at the same offset, or HISTORY_NONE */
};

/* Bindings into one container from one device. */
struct bound_space {
    int device;
    struct range_map bound; /* by offset; the sizes are not used */
    uint32_t next;          /* space of the same container, or HISTORY_NONE */
};

/* A range of a container. In a multicast object each device has ranges of its own. */
struct stretch {
    uint32_t container; /* block */
    int device;         /* DEVICE_UNKNOWN: all devices */
    uint64_t start, size_bytes;
};

void bindings_release(struct bindings *bindings)
{
    for (uint32_t i = 0; i < bindings->space_slots.used; i++)
        range_map_release(&bindings->spaces[i].bound);
    free(bindings->spaces);
    free(bindings->items);
    slots_release(&bindings->space_slots);
    slots_release(&bindings->slots);
    pair_map_release(&bindings->first);
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
    uint32_t array = pair_map_get(&blocks->live, SPACE_ARRAY, handle);
    return array != PAIR_MAP_NONE && is_container(blocks, array) ? array : HISTORY_NONE;
}

static int device_of(const struct vmm *vmm, const struct blocks *blocks, uint32_t object)
{
    const struct history *history = blocks->at.history;
    return history->accounts[history->blocks[vmm->objects[object].block].account].device;
}

/* --- spaces --- */

static uint32_t first_space(const struct bindings *bindings, uint32_t container)
{
    uint32_t first = pair_map_get(&bindings->first, 0, container);
    return first == PAIR_MAP_NONE ? HISTORY_NONE : first;
}

static struct bound_space *find_space(const struct bindings *bindings, uint32_t container,
                                      int device)
{
    uint32_t i = first_space(bindings, container);
    while (i != HISTORY_NONE && bindings->spaces[i].device != device)
        i = bindings->spaces[i].next;
    return i == HISTORY_NONE ? NULL : &bindings->spaces[i];
}

static struct bound_space *add_space(struct bindings *bindings, uint32_t container, int device,
                                     struct err *err)
{
    uint32_t number = slots_take(&bindings->space_slots, err);
    if (number == SLOT_NONE)
        return NULL;
    if (ARRAY_GROW(bindings->spaces, bindings->space_capacity, number, err))
        return NULL;
    bindings->spaces[number] =
        (struct bound_space){.device = device, .next = first_space(bindings, container)};
    range_map_init(&bindings->spaces[number].bound);
    return pair_map_put(&bindings->first, 0, container, number, err) ? NULL
                                                                     : &bindings->spaces[number];
}

/* --- what is bound in them --- */

static int end_chain(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks,
                     uint32_t first)
{
    uint32_t next;
    for (uint32_t i = first; i != HISTORY_NONE; i = next) {
        uint32_t object = bindings->items[i].object;
        next = bindings->items[i].next;
        slots_give_back(&bindings->slots, i);
        vmm->objects[object].bindings_count--;
        if (vmm_end_if_unused(vmm, blocks, object, BLOCK_FREED))
            return -1;
    }
    return 0;
}

static int end_in_space(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks,
                        struct range_map *bound, const struct stretch *stretch)
{
    const struct range_node *node;
    while ((node = range_map_at_or_after(bound, stretch->start)) &&
           node->start - stretch->start < stretch->size_bytes)
        if (end_chain(bindings, vmm, blocks, range_map_remove(bound, node->start)))
            return -1;
    return 0;
}

static int end_bindings_in(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks,
                           const struct stretch *stretch)
{
    uint32_t i = first_space(bindings, stretch->container);
    for (; i != HISTORY_NONE; i = bindings->spaces[i].next)
        if ((stretch->device == DEVICE_UNKNOWN || bindings->spaces[i].device == stretch->device) &&
            end_in_space(bindings, vmm, blocks, &bindings->spaces[i].bound, stretch))
            return -1;
    return 0;
}

static int add_binding(struct bindings *bindings, const struct stretch *stretch, uint32_t object,
                       struct err *err)
{
    struct bound_space *space = find_space(bindings, stretch->container, stretch->device);
    if (!space)
        space = add_space(bindings, stretch->container, stretch->device, err);
    uint32_t number = slots_take(&bindings->slots, err);
    if (!space || number == SLOT_NONE)
        return -1;
    if (ARRAY_GROW(bindings->items, bindings->capacity, number, err))
        return -1;
    uint32_t before;
    if (range_map_insert(&space->bound, stretch->start, 1, number, &before, err))
        return -1;
    bindings->items[number] =
        (struct binding){.object = object, .next = before == RANGE_NONE ? HISTORY_NONE : before};
    return 0;
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
    vmm->objects[object].bindings_count++; /* first: end_bindings_in may unbind this object */
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
    if (first_space(bindings, block) == HISTORY_NONE)
        return 0;
    const struct stretch all = {
        .container = block, .device = DEVICE_UNKNOWN, .size_bytes = UINT64_MAX};
    if (end_bindings_in(bindings, vmm, blocks, &all))
        return -1;
    uint32_t next, i = first_space(bindings, block);
    for (; i != HISTORY_NONE; i = next) {
        next = bindings->spaces[i].next;
        range_map_release(&bindings->spaces[i].bound);
        slots_give_back(&bindings->space_slots, i);
    }
    pair_map_remove(&bindings->first, 0, block);
    return 0;
}
