/* SPDX-License-Identifier: MIT */
/* Ranges of driver memory and segments; see driver_ranges.h. */
#include "driver_ranges.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "memory_rules.h"

void driver_ranges_init(struct driver_ranges *ranges, bool has_tensors)
{
    *ranges = (struct driver_ranges){.has_tensors = has_tensors};
    range_map_init(&ranges->map);
}

void driver_ranges_release(struct driver_ranges *ranges)
{
    range_map_release(&ranges->map);
    free(ranges->items);
}

static int add_range(struct driver_ranges *ranges, const struct cursor *at, uint64_t address,
                     uint64_t size_bytes, struct driver_range range)
{
    struct driver_range *grown =
        array_grow(ranges->items, &ranges->capacity, ranges->count, sizeof *grown, at->err);
    if (!grown)
        return -1;
    ranges->items = grown;
    range.segment = HISTORY_NONE;
    range.begin_index = at->index;
    grown[ranges->count] = range;
    return range_map_insert(&ranges->map, address, size_bytes, (uint32_t)ranges->count++, at->err);
}

static bool is_kept(const struct driver_ranges *ranges, const struct block *block)
{
    return ranges->has_tensors && memory_rules[block->memory].space == SPACE_DEVICE;
}

int driver_ranges_add_plain(struct driver_ranges *ranges, const struct cursor *at,
                            const struct block *block, uint32_t number)
{
    if (!is_kept(ranges, block))
        return 0;
    return add_range(ranges, at, block->address, block->size_bytes,
                     (struct driver_range){.block = number, .object = HISTORY_NONE});
}

int driver_ranges_add_mapping(struct driver_ranges *ranges, const struct cursor *at, uint32_t block,
                              uint32_t object)
{
    return add_range(ranges, at, at->event->address, at->event->size_bytes,
                     (struct driver_range){.block = block, .object = object});
}

void driver_ranges_remove(struct driver_ranges *ranges, const struct cursor *at, uint64_t address)
{
    uint32_t number = range_map_remove(&ranges->map, address);
    if (number != RANGE_NONE && ranges->items[number].segment != HISTORY_NONE)
        at->history->segments[ranges->items[number].segment].end_index = at->index;
}

void driver_ranges_remove_plain(struct driver_ranges *ranges, const struct cursor *at,
                                const struct block *block)
{
    if (is_kept(ranges, block))
        driver_ranges_remove(ranges, at, block->address);
}

/* --- segments of framework pools --- */

static int add_segment(struct driver_ranges *ranges, const struct cursor *at,
                       const struct range_node *node, uint32_t stock)
{
    struct history *history = at->history;
    struct segment *grown = array_grow(history->segments, &history->segment_capacity,
                                       history->segment_count, sizeof *grown, at->err);
    if (!grown)
        return -1;
    history->segments = grown;
    struct driver_range *range = &ranges->items[node->value];
    range->segment = (uint32_t)history->segment_count++;
    grown[range->segment] = (struct segment){.address = node->start,
                                             .size_bytes = node->size_bytes,
                                             .stock = stock,
                                             .begin_index = range->begin_index,
                                             .end_index = HISTORY_NONE,
                                             .mapped = range->object != HISTORY_NONE};
    history->blocks[range->block].is_segment = true;
    return 0;
}

/* A tensor may lie across several mappings of an expandable segment. */
int driver_ranges_add_tensor(struct driver_ranges *ranges, const struct cursor *at,
                             const struct block *tensor)
{
    uint64_t address = tensor->address, end;
    if (GMT_ADD_OVERFLOWS(tensor->address, tensor->size_bytes, &end))
        end = UINT64_MAX;
    const struct range_node *node;
    while (address < end && (node = range_map_at_or_after(&ranges->map, address)) &&
           node->start < end) {
        if (ranges->items[node->value].segment == HISTORY_NONE &&
            add_segment(ranges, at, node, tensor->stock))
            return -1;
        if (GMT_ADD_OVERFLOWS(node->start, node->size_bytes, &address))
            break;
    }
    return 0;
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
