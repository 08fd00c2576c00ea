/* SPDX-License-Identifier: MIT */
/*
 * Physical memory objects (VMM) and the ranges of driver memory that are mapped: which object ends
 * when, and which range a framework pool uses as a segment. It must not know how blocks are summed.
 */
#include "replay/replay.h"

#include "trace/array.h"

static uint32_t add_owner(struct replay *replay, uint32_t block, uint32_t object)
{
    struct owner *grown;

    grown = array_grow(replay->owners, &replay->owner_capacity, replay->owner_count, sizeof *grown,
                       replay->err);
    if (!grown)
        return HISTORY_NONE;
    replay->owners = grown;
    grown[replay->owner_count] = (struct owner){
        .block = block, .object = object, .segment = HISTORY_NONE, .begin_index = replay->index};
    return (uint32_t)replay->owner_count++;
}

static int add_range(struct replay *replay, uint64_t address, uint64_t size_bytes, uint32_t block,
                     uint32_t object)
{
    uint32_t owner = add_owner(replay, block, object);

    if (owner == HISTORY_NONE)
        return -1;
    return range_map_insert(&replay->ranges, address, size_bytes, owner, replay->err);
}

int replay_plain_range(struct replay *replay, uint32_t block)
{
    const struct block *plain = &replay->history->blocks[block];

    return add_range(replay, plain->address, plain->size_bytes, block, HISTORY_NONE);
}

void replay_range_end(struct replay *replay, uint64_t address)
{
    uint32_t number = range_map_remove(&replay->ranges, address);

    if (number != RANGE_NONE && replay->owners[number].segment != HISTORY_NONE)
        replay->history->segments[replay->owners[number].segment].end_index = replay->index;
}

/* --- objects --- */

int replay_virtual_alloc(struct replay *replay)
{
    struct virtual_object *grown;
    uint32_t block = replay_birth(replay);

    if (block == HISTORY_NONE)
        return -1;
    grown = array_grow(replay->objects, &replay->object_capacity, replay->object_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return -1;
    replay->objects = grown;
    grown[replay->object_count] = (struct virtual_object){.block = block, .references_count = 1};
    return address_map_put(&replay->live, SPACE_HANDLE, replay->event->address,
                           (uint32_t)replay->object_count++, replay->err);
}

static int end_if_unused(struct replay *replay, const struct virtual_object *object)
{
    if (object->references_count || object->mappings_count)
        return 0;
    return replay_death(replay, object->block, BLOCK_FREED);
}

/* The handle's number may be given out again as soon as its references are gone. */
int replay_virtual_free(struct replay *replay, uint32_t number)
{
    struct virtual_object *object = &replay->objects[number];

    if (--object->references_count == 0)
        address_map_remove(&replay->live, SPACE_HANDLE, replay->event->address);
    return end_if_unused(replay, object);
}

int replay_map(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t number;

    if (event->result != 0 || !event->size_bytes)
        return 0;
    number = address_map_get(&replay->live, SPACE_HANDLE, event->object);
    if (number == ADDRESS_MAP_NONE)
        return 0; /* an imported handle: counted where it was imported */
    replay->objects[number].mappings_count++;
    return add_range(replay, event->address, event->size_bytes, replay->objects[number].block,
                     number);
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
        struct virtual_object *object = &replay->objects[replay->owners[node->value].object];

        replay_range_end(replay, node->start);
        object->mappings_count--;
        if (end_if_unused(replay, object))
            return -1;
    }
    return 0;
}

/* --- segments of framework pools --- */

static int add_segment(struct replay *replay, const struct range_node *node, uint32_t stock)
{
    struct history *history = replay->history;
    struct owner *owner = &replay->owners[node->value];
    struct segment *grown;

    grown = array_grow(history->segments, &history->segment_capacity, history->segment_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return -1;
    history->segments = grown;
    owner->segment = (uint32_t)history->segment_count++;
    grown[owner->segment] = (struct segment){.address = node->start,
                                             .size_bytes = node->size_bytes,
                                             .stock = stock,
                                             .begin_index = owner->begin_index,
                                             .end_index = HISTORY_NONE,
                                             .mapped = owner->object != HISTORY_NONE};
    history->blocks[owner->block].is_segment = true;
    return 0;
}

/* A tensor may lie across several mappings of an expandable segment. */
int replay_tensor(struct replay *replay, const struct block *tensor)
{
    uint64_t address = tensor->address, end;
    const struct range_node *node;

    if (GMT_ADD_OVERFLOWS(tensor->address, tensor->size_bytes, &end))
        end = UINT64_MAX;
    while (address < end && (node = range_map_at_or_after(&replay->ranges, address)) &&
           node->start < end) {
        if (replay->owners[node->value].segment == HISTORY_NONE &&
            add_segment(replay, node, tensor->stock))
            return -1;
        if (GMT_ADD_OVERFLOWS(node->start, node->size_bytes, &address))
            break;
    }
    return 0;
}
