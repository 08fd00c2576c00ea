/* SPDX-License-Identifier: MIT */
/* What was live at a moment; see live_walk.h. */
#include "live_walk.h"

/* Blocks end in the order of the list: those before the first that ended later are over. */
static size_t first_ended_after(const struct history *history, uint64_t index)
{
    const struct block *ended = history->ended_blocks.items;
    size_t low = 0, high = history->ended_blocks.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ended[middle].life.end_index <= index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct live_walk live_walk_begin(const struct history *history, uint32_t stock, uint64_t index)
{
    return (struct live_walk){.history = history, .stock = stock, .index = index};
}

/* The first live block of items[*next …]; *next is then behind it. */
static const struct block *next_of(const struct live_walk *walk, const struct block *items,
                                   size_t count, size_t *next)
{
    const uint64_t index = walk->index;
    const uint32_t stock = walk->stock;
    size_t i = *next;
    while (i < count && (items[i].stock != stock || !life_covers(&items[i].life, index)))
        i++;
    *next = i < count ? i + 1 : count;
    return i < count ? &items[i] : NULL;
}

const struct block *live_walk_next(struct live_walk *walk)
{
    const struct history *history = walk->history;
    const struct block *block =
        next_of(walk, history->blocks, history->block_slots.used, &walk->live);
    if (block)
        return block;
    if (!walk->ended)
        walk->ended = first_ended_after(history, walk->index);
    return next_of(walk, history->ended_blocks.items, history->ended_blocks.count, &walk->ended);
}

const struct segment *live_walk_next_segment(struct live_walk *walk)
{
    const struct history *history = walk->history;
    const struct segment *ended = history->ended_segments.items;
    while (walk->live < history->segment_slots.used) {
        const struct segment *segment = &history->segments[walk->live++];
        if (segment->stock == walk->stock && life_covers(&segment->life, walk->index))
            return segment;
    }
    while (walk->ended < history->ended_segments.count) {
        const struct segment *segment = &ended[walk->ended++];
        if (segment->stock == walk->stock && life_covers(&segment->life, walk->index))
            return segment;
    }
    return NULL;
}
