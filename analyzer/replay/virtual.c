/* SPDX-License-Identifier: MIT */
/*
 * Physical memory objects (VMM): who refers to one, and so when it ends. It must not know how
 * blocks are summed.
 *
 *     handle ─┐  (several numbers may stand for one object, and one number for several references)
 *     handle ─┼─► object ──► block
 *     mapping ┘     ▲
 *     binding ──────┘   in a multicast object or a sparse array, see bindings.c
 */
#include "replay.h"

#include "analyzer/util/array.h"

/* --- references --- */

/* One more reference of the object, by that handle. */
static int add_reference(struct replay *replay, uint64_t handle, uint32_t object)
{
    uint32_t number = address_map_get(&replay->live, SPACE_HANDLE, handle);
    struct virtual_handle *grown;

    replay->objects[object].references_count++;
    if (number != ADDRESS_MAP_NONE && replay->handles[number].object == object) {
        replay->handles[number].references_count++;
        return 0;
    }
    grown = array_grow(replay->handles, &replay->handle_capacity, replay->handle_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return -1;
    replay->handles = grown;
    number = (uint32_t)replay->handle_count++;
    grown[number] = (struct virtual_handle){.object = object, .references_count = 1};
    return address_map_put(&replay->live, SPACE_HANDLE, handle, number, replay->err);
}

int replay_virtual_alloc(struct replay *replay)
{
    struct block born = replay_described(replay);
    struct virtual_object *grown;
    uint32_t block;

    if (born.stock == HISTORY_NONE)
        return -1;
    block = replay_birth(replay, &born);
    if (block == HISTORY_NONE)
        return -1;
    grown = array_grow(replay->objects, &replay->object_capacity, replay->object_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return -1;
    replay->objects = grown;
    grown[replay->object_count] = (struct virtual_object){.block = block};
    return add_reference(replay, replay->event->address, (uint32_t)replay->object_count++);
}

int replay_end_if_unused(struct replay *replay, uint32_t number)
{
    const struct virtual_object *object = &replay->objects[number];

    if (object->references_count || object->mappings_count || object->bindings_count)
        return 0;
    return replay_death(replay, object->block, BLOCK_FREED);
}

/* The handle's number may be given out again as soon as its references are gone. */
int replay_virtual_free(struct replay *replay, uint32_t number)
{
    struct virtual_handle *handle = &replay->handles[number];

    if (--handle->references_count == 0)
        address_map_remove(&replay->live, SPACE_HANDLE, replay->event->address);
    replay->objects[handle->object].references_count--;
    return replay_end_if_unused(replay, handle->object);
}

int replay_retain(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t object;

    if (event->result != 0)
        return 0;
    object = replay_object_at(replay, event->address);
    if (object == HISTORY_NONE)
        object = replay_object_of(replay, event->object);
    return object == HISTORY_NONE ? 0 : add_reference(replay, event->object, object);
}

/* --- finding an object --- */

uint32_t replay_object_of(const struct replay *replay, uint64_t handle)
{
    uint32_t number = address_map_get(&replay->live, SPACE_HANDLE, handle);

    return number == ADDRESS_MAP_NONE ? HISTORY_NONE : replay->handles[number].object;
}

uint32_t replay_object_at(const struct replay *replay, uint64_t address)
{
    const struct range_node *node = range_map_at_or_after(&replay->ranges, address);

    return node && node->start <= address ? replay->owners[node->value].object : HISTORY_NONE;
}

/* --- mappings --- */

/* How much an imported object is, its first mapping tells, or a larger one later. */
static int learn_size(struct replay *replay, struct virtual_object *object)
{
    const struct block *block = &replay->history->blocks[object->block];

    if (block->memory != MEMORY_IMPORTED_VMM || block->size_bytes >= replay->event->size_bytes)
        return 0;
    object->block =
        replay_resize(replay, object->block, replay->event->size_bytes, block->stack_id);
    return object->block == HISTORY_NONE ? -1 : 0;
}

int replay_map(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t number = replay_object_of(replay, event->object);
    struct virtual_object *object;

    if (event->result != 0 || !event->size_bytes || number == HISTORY_NONE)
        return 0;
    object = &replay->objects[number];
    object->mappings_count++;
    if (learn_size(replay, object))
        return -1;
    return replay_add_range(replay, event->address, event->size_bytes, object->block, number);
}

static bool is_mapping_inside(const struct replay *replay, const struct range_node *node,
                              uint64_t from, uint64_t size_bytes)
{
    return node->start >= from && node->start - from < size_bytes &&
           replay->owners[node->value].object != HISTORY_NONE;
}

int replay_unmap(struct replay *replay)
{
    const struct event *event = replay->event;
    const struct range_node *node;

    if (event->result != 0)
        return 0;
    while ((node = range_map_at_or_after(&replay->ranges, event->address)) &&
           is_mapping_inside(replay, node, event->address, event->size_bytes)) {
        uint32_t object = replay->owners[node->value].object;

        replay_range_end(replay, node->start);
        replay->objects[object].mappings_count--;
        if (replay_end_if_unused(replay, object))
            return -1;
    }
    return 0;
}
