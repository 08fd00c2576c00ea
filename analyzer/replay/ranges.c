/* SPDX-License-Identifier: MIT */
/*
 * The ranges of driver memory, plain and mapped, and which of them a framework pool uses as a
 * segment. It must not know when they begin and end.
 */
#include "replay.h"

#include "analyzer/util/array.h"

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

int replay_add_range(struct replay *replay, uint64_t address, uint64_t size_bytes, uint32_t block,
                     uint32_t object)
{
    uint32_t owner = add_owner(replay, block, object);

    if (owner == HISTORY_NONE)
        return -1;
    return range_map_insert(&replay->ranges, address, size_bytes, owner, replay->err);
}

void replay_range_end(struct replay *replay, uint64_t address)
{
    uint32_t number = range_map_remove(&replay->ranges, address);

    if (number != RANGE_NONE && replay->owners[number].segment != HISTORY_NONE)
        replay->history->segments[replay->owners[number].segment].end_index = replay->index;
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
