/* SPDX-License-Identifier: MIT */
/* Physical memory objects; see vmm.h. */
#include "vmm.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

struct vmm_handle {
    uint32_t object, references_count;
};

void vmm_release(struct vmm *vmm)
{
    free(vmm->objects);
    free(vmm->handles);
    slots_release(&vmm->object_slots);
    slots_release(&vmm->handle_slots);
    pair_map_release(&vmm->by_handle);
}

/* --- references --- */

/* Adds a reference to the object under this handle. */
static int add_reference(struct vmm *vmm, uint64_t handle, uint32_t object, struct err *err)
{
    uint32_t number = pair_map_get(&vmm->by_handle, 0, handle);
    vmm->objects[object].references_count++;
    if (number != PAIR_MAP_NONE && vmm->handles[number].object == object) {
        vmm->handles[number].references_count++;
        return 0;
    }
    number = slots_take(&vmm->handle_slots, err);
    if (number == SLOT_NONE)
        return -1;
    if (ARRAY_GROW(vmm->handles, vmm->handle_capacity, number, err))
        return -1;
    vmm->handles[number] = (struct vmm_handle){.object = object, .references_count = 1};
    return pair_map_put(&vmm->by_handle, 0, handle, number, err);
}

int vmm_alloc(struct vmm *vmm, struct blocks *blocks)
{
    const struct cursor *at = &blocks->at;
    struct block born = blocks_described(blocks);
    if (born.account == HISTORY_NONE)
        return -1;
    uint32_t block = blocks_begin(blocks, &born);
    if (block == HISTORY_NONE)
        return -1;
    uint32_t number = slots_take(&vmm->object_slots, at->err);
    if (number == SLOT_NONE)
        return -1;
    if (ARRAY_GROW(vmm->objects, vmm->object_capacity, number, at->err))
        return -1;
    vmm->objects[number] = (struct vmm_object){.block = block};
    return add_reference(vmm, at->event->address, number, at->err);
}

int vmm_end_if_unused(struct vmm *vmm, struct blocks *blocks, uint32_t number, enum block_end how)
{
    const struct vmm_object *object = &vmm->objects[number];
    if (object->references_count || object->mappings_count || object->bindings_count)
        return 0;
    uint32_t block = object->block;
    slots_give_back(&vmm->object_slots, number);
    return blocks_end(blocks, block, how);
}

/* The driver may reuse a handle as soon as its references are gone. */
int vmm_free(struct vmm *vmm, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    uint32_t number = pair_map_get(&vmm->by_handle, 0, event->address);
    if (event->result != 0)
        return 0;
    if (number == PAIR_MAP_NONE) {
        blocks->at.history->unknown_frees_count++;
        return 0;
    }
    struct vmm_handle *handle = &vmm->handles[number];
    uint32_t object = handle->object;
    if (--handle->references_count == 0) {
        pair_map_remove(&vmm->by_handle, 0, event->address);
        slots_give_back(&vmm->handle_slots, number);
    }
    vmm->objects[object].references_count--;
    return vmm_end_if_unused(vmm, blocks, object, BLOCK_FREED);
}

int vmm_retain(struct vmm *vmm, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    if (event->result != 0)
        return 0;
    uint32_t object = driver_ranges_object_at(&blocks->ranges, event->address);
    if (object == HISTORY_NONE)
        object = vmm_object_of(vmm, event->object);
    if (object == HISTORY_NONE)
        return 0;
    return add_reference(vmm, event->object, object, blocks->at.err);
}

uint32_t vmm_object_of(const struct vmm *vmm, uint64_t handle)
{
    uint32_t number = pair_map_get(&vmm->by_handle, 0, handle);
    return number == PAIR_MAP_NONE ? HISTORY_NONE : vmm->handles[number].object;
}

/* --- mappings --- */

/* An imported object gets the size of its largest mapping so far. */
static int learn_size(struct blocks *blocks, const struct vmm_object *object)
{
    const struct block *block = &blocks->at.history->blocks[object->block];
    uint64_t size_bytes = blocks->at.event->size_bytes;
    if (block->memory != MEMORY_IMPORTED_VMM || block->size_bytes >= size_bytes)
        return 0;
    return blocks_resize(blocks, object->block, size_bytes, site_stack(block->site_id));
}

/* Ends the mappings within the event's address range. */
static int end_mappings(struct vmm *vmm, struct blocks *blocks, enum block_end how)
{
    const struct event *event = blocks->at.event;
    uint32_t object;
    uint64_t start;
    while ((object = driver_ranges_object_within(&blocks->ranges, event->address, event->size_bytes,
                                                 &start)) != HISTORY_NONE) {
        if (driver_ranges_remove(&blocks->ranges, &blocks->at, start))
            return -1;
        vmm->objects[object].mappings_count--;
        if (vmm_end_if_unused(vmm, blocks, object, how))
            return -1;
    }
    return 0;
}

/*
 * The driver maps no address twice, so the unmap of an older mapping here was not recorded: it ends
 * now.
 */
int vmm_map(struct vmm *vmm, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    uint32_t number = vmm_object_of(vmm, event->object);
    if (event->result != 0 || !event->size_bytes || number == HISTORY_NONE)
        return 0;
    vmm->objects[number].mappings_count++;
    if (learn_size(blocks, &vmm->objects[number]) || end_mappings(vmm, blocks, BLOCK_LOST))
        return -1;
    return driver_ranges_add_mapping(&blocks->ranges, &blocks->at, vmm->objects[number].block,
                                     number);
}

int vmm_unmap(struct vmm *vmm, struct blocks *blocks)
{
    return blocks->at.event->result == 0 ? end_mappings(vmm, blocks, BLOCK_FREED) : 0;
}
