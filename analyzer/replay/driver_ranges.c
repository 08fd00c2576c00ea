/* SPDX-License-Identifier: MIT */
/* Ranges of driver memory and segments; see driver_ranges.h. */
#include "driver_ranges.h"

#include <stdlib.h>

#include "accounts.h"
#include "analyzer/util/array.h"
#include "memory_rules.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/replay/history/past.h"

/*
 * Segment bytes of one pool. A segment that is found by its first tensor counts from its beginning.
 */
struct pool_reserve {
    uint64_t bytes;
    struct high_water water; /* moments are events */
};

void driver_ranges_init(struct driver_ranges *ranges)
{
    *ranges = (struct driver_ranges){0};
    range_map_init(&ranges->map);
}

void driver_ranges_release(struct driver_ranges *ranges)
{
    range_map_release(&ranges->map);
    slots_release(&ranges->slots);
    for (size_t i = 0; i < ranges->reserve_count; i++)
        high_water_release(&ranges->reserves[i].water);
    free(ranges->reserves);
    free(ranges->items);
}

/* --- ranges --- */

/*
 * Adds a range. If events contradict each other, it replaces the range that starts at this address.
 */
static int add_range(struct driver_ranges *ranges, uint64_t address, uint64_t size_bytes,
                     const struct driver_range *range, struct err *err)
{
    uint32_t number = slots_take(&ranges->slots, err);
    if (number == SLOT_NONE)
        return -1;
    if (ARRAY_GROW(ranges->items, ranges->capacity, number, err))
        return -1;
    ranges->items[number] = *range;
    ranges->items[number].address = address;
    ranges->items[number].size_bytes = size_bytes;
    uint32_t replaced;
    if (range_map_insert(&ranges->map, address, size_bytes, number, &replaced, err))
        return -1;
    if (replaced != RANGE_NONE)
        ranges->items[replaced].size_bytes = 0;
    return 0;
}

static int add_plain_block(struct driver_ranges *ranges, const struct cursor *at, uint32_t number)
{
    const struct block *block = &at->history->blocks[number];
    const struct driver_range range = {.block = number,
                                       .object = HISTORY_NONE,
                                       .segment = HISTORY_NONE,
                                       .begin_index = block->life.begin_index};
    if (memory_rules[block->memory].space != SPACE_DEVICE)
        return 0;
    return add_range(ranges, block->address, block->size_bytes, &range, at->err);
}

int driver_ranges_add_plain(struct driver_ranges *ranges, const struct cursor *at, uint32_t block)
{
    return ranges->has_tensors ? add_plain_block(ranges, at, block) : 0;
}

/* Adds the plain memory that was live before the first tensor. */
static int add_plain_blocks(struct driver_ranges *ranges, const struct cursor *at)
{
    const struct history *history = at->history;
    if (ranges->has_tensors)
        return 0;
    ranges->has_tensors = true;
    for (uint32_t i = 0; i < history->block_slots.used; i++)
        if (history->blocks[i].account != HISTORY_NONE && add_plain_block(ranges, at, i))
            return -1;
    return 0;
}

int driver_ranges_add_mapping(struct driver_ranges *ranges, const struct cursor *at, uint32_t block,
                              uint32_t object)
{
    const struct driver_range range = {
        .block = block, .object = object, .segment = HISTORY_NONE, .begin_index = at->index};
    return add_range(ranges, at->event->address, at->event->size_bytes, &range, at->err);
}

static int end_segment(struct driver_ranges *ranges, const struct cursor *at, uint32_t number)
{
    struct history *history = at->history;
    struct segment *segment = &history->segments[number];
    struct pool_reserve *reserve = &ranges->reserves[segment->account];
    segment->life.end_index = at->index;
    reserve->bytes -= segment->size_bytes;
    history->accounts[segment->account].reserved_bytes = reserve->bytes;
    if (observers_see_reserved(at, segment, false) || past_end_segment(history, segment, at->err) ||
        observers_see_segment(at, segment) ||
        high_water_begin(&reserve->water, at->index, reserve->bytes, at->err))
        return -1;
    segment->account = HISTORY_NONE;
    slots_give_back(&history->segment_slots, number);
    return 0;
}

int driver_ranges_remove(struct driver_ranges *ranges, const struct cursor *at, uint64_t address)
{
    uint32_t number = range_map_remove(&ranges->map, address);
    if (number == RANGE_NONE)
        return 0;
    uint32_t segment = ranges->items[number].segment;
    ranges->items[number].size_bytes = 0;
    slots_give_back(&ranges->slots, number);
    return segment == HISTORY_NONE ? 0 : end_segment(ranges, at, segment);
}

int driver_ranges_remove_plain(struct driver_ranges *ranges, const struct cursor *at,
                               const struct block *block)
{
    if (!ranges->has_tensors || memory_rules[block->memory].space != SPACE_DEVICE)
        return 0;
    return driver_ranges_remove(ranges, at, block->address);
}

/* --- segments of framework pools --- */

static struct pool_reserve *find_reserve(struct driver_ranges *ranges, uint32_t account,
                                         struct err *err)
{
    if (ARRAY_REACH(ranges->reserves, ranges->reserve_capacity, ranges->reserve_count, account,
                    err))
        return NULL;
    return &ranges->reserves[account];
}

static int count_segment(struct driver_ranges *ranges, const struct segment *segment,
                         struct err *err)
{
    struct pool_reserve *reserve = find_reserve(ranges, segment->account, err);
    if (!reserve)
        return -1;
    reserve->bytes += segment->size_bytes;
    return high_water_add_since(&reserve->water, segment->life.begin_index, segment->size_bytes,
                                err);
}

/* The birth of the block has added its call stack. */
static void note_segment(struct history *history, struct block *block)
{
    const uint32_t stack_id = site_stack(block->site_id);
    block->is_segment = true;
    if (stack_id < history->stack_count)
        history->stacks[stack_id].uses |= STACK_HAS_SEGMENT;
}

static int add_segment(struct driver_ranges *ranges, const struct cursor *at,
                       const struct range_node *node, const struct block *tensor)
{
    struct history *history = at->history;
    struct driver_range *range = &ranges->items[node->value];
    uint32_t number = slots_take(&history->segment_slots, at->err);
    if (number == SLOT_NONE)
        return -1;
    if (ARRAY_GROW(history->segments, history->segment_capacity, number, at->err))
        return -1;
    range->segment = number;
    history->segments[number] = (struct segment){.life = {range->begin_index, INDEX_NONE},
                                                 .address = node->start,
                                                 .size_bytes = node->size_bytes,
                                                 .stream = tensor->stream,
                                                 .site_id = tensor->site_id,
                                                 .account = tensor->account,
                                                 .of_graph = {INDEX_NONE, INDEX_NONE},
                                                 .mapped = range->object != HISTORY_NONE};
    note_segment(history, &history->blocks[range->block]);
    history->accounts[tensor->account].has_segments = true;
    if (count_segment(ranges, &history->segments[number], at->err))
        return -1;
    history->accounts[tensor->account].reserved_bytes = ranges->reserves[tensor->account].bytes;
    accounts_note_reserved(at, &history->accounts[tensor->account]);
    return observers_see_reserved(at, &history->segments[number], true);
}

/* True if the tensor lies in the segment in which a recent tensor with a near address was found. */
static bool lies_in_recent(const struct driver_ranges *ranges, uint32_t recent,
                           const struct block *tensor)
{
    if (recent >= ranges->slots.used)
        return false;
    const struct driver_range *range = &ranges->items[recent];
    const uint64_t offset = tensor->address - range->address;
    return range->segment != HISTORY_NONE && offset < range->size_bytes &&
           tensor->size_bytes <= range->size_bytes - offset;
}

/* A tensor may span several mappings of an expandable segment. */
int driver_ranges_add_tensor(struct driver_ranges *ranges, const struct cursor *at,
                             const struct block *tensor)
{
    uint32_t *recent = &ranges->recent[tensor->address / RECENT_PIECE_BYTES % RECENT_RANGES];
    uint64_t address = tensor->address, end;
    if (ranges->is_unasked || lies_in_recent(ranges, *recent, tensor))
        return 0;
    if (add_plain_blocks(ranges, at))
        return -1;
    if (GMT_ADD_OVERFLOWS(tensor->address, tensor->size_bytes, &end))
        end = UINT64_MAX;
    const struct range_node *node;
    while (address < end && (node = range_map_at_or_after(&ranges->map, address)) &&
           node->start < end) {
        if (ranges->items[node->value].segment == HISTORY_NONE &&
            add_segment(ranges, at, node, tensor))
            return -1;
        *recent = node->value;
        if (GMT_ADD_OVERFLOWS(node->start, node->size_bytes, &address))
            break;
    }
    return 0;
}

uint32_t driver_ranges_next_segment(const struct driver_ranges *ranges, uint64_t *address,
                                    uint64_t end)
{
    const struct range_node *node;
    while (*address < end && (node = range_map_at_or_after(&ranges->map, *address)) &&
           node->start < end) {
        if (GMT_ADD_OVERFLOWS(node->start, node->size_bytes, address))
            *address = UINT64_MAX;
        if (ranges->items[node->value].segment != HISTORY_NONE)
            return ranges->items[node->value].segment;
    }
    return HISTORY_NONE;
}

void driver_ranges_finish(const struct driver_ranges *ranges, struct history *history)
{
    for (size_t i = 0; i < ranges->reserve_count; i++)
        history->accounts[i].peak_reserved_bytes = high_water_since(&ranges->reserves[i].water, 0);
}

/* --- mapped objects --- */

uint32_t driver_ranges_object_at(const struct driver_ranges *ranges, uint64_t address)
{
    const struct range_node *node = range_map_at_or_after(&ranges->map, address);
    return node && node->start <= address ? ranges->items[node->value].object : HISTORY_NONE;
}

uint32_t driver_ranges_object_within(const struct driver_ranges *ranges, uint64_t address,
                                     uint64_t size_bytes, uint64_t *start)
{
    const struct range_node *node = range_map_at_or_after(&ranges->map, address);
    if (!node || node->start < address || node->start - address >= size_bytes)
        return HISTORY_NONE;
    *start = node->start;
    return ranges->items[node->value].object;
}
