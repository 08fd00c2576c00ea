/* SPDX-License-Identifier: MIT */
/* What was live at a moment; see live_walk.h. */
#include "live_walk.h"

struct live_walk live_walk_begin(const struct history *history, uint32_t stock, uint64_t index)
{
    return (struct live_walk){.history = history, .stock = stock, .index = index};
}

const struct block *live_walk_next(struct live_walk *walk)
{
    const struct history *history = walk->history;
    const struct block *ended = history->ended_blocks.items;
    while (walk->live < history->block_slots.used) {
        const struct block *block = &history->blocks[walk->live++];
        if (block->stock == walk->stock && life_covers(&block->life, walk->index))
            return block;
    }
    while (walk->ended < history->ended_blocks.count) {
        const struct block *block = &ended[walk->ended++];
        if (block->stock == walk->stock && life_covers(&block->life, walk->index))
            return block;
    }
    return NULL;
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
