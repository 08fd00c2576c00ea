/* SPDX-License-Identifier: MIT */
/* Live blocks and segments at a moment; see live_walk.h. */
#include "live_walk.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* First block that ended after the event: the list is sorted by end. */
static size_t first_ended_after(const struct history *history, uint64_t index)
{
    return SORTED_UP_TO(struct block, life.end_index, history->ended_blocks.items,
                        history->ended_blocks.count, index);
}

/* --- the moments that were walked last --- */

enum { RUN = 64 }; /* number of ended blocks that share one entry of first_begins */

struct live_set {
    uint64_t index; /* INDEX_NONE: empty */
    const struct block **blocks;
    size_t count, capacity;
};

/*
 * The begin indices of a list of blocks. They have their own array, because most blocks are
 * rejected by their begin index, so that the block itself need not be read.
 */
struct beginnings {
    uint64_t *items;
    const struct block *blocks;
    size_t count;
};

struct live_sets {
    struct live_set sets[LIVE_SETS];
    size_t next; /* set to be filled next */
    struct beginnings live, ended;
    uint64_t *first_begins; /* smallest begin of each RUN of the ended blocks */
};

static int collect(struct beginnings *found, const struct block *blocks, size_t count,
                   struct err *err)
{
    *found = (struct beginnings){array_new(count, sizeof *found->items, err), blocks, count};
    for (size_t i = 0; found->items && i < count; i++)
        found->items[i] =
            blocks[i].account == HISTORY_NONE ? UINT64_MAX : blocks[i].life.begin_index;
    return found->items ? 0 : -1;
}

int live_sets_init(struct history *history, struct err *err)
{
    const struct ended *ended = &history->ended_blocks;
    struct live_sets *walked = array_new(1, sizeof *walked, err);
    history->walked = walked;
    if (!walked || collect(&walked->live, history->blocks, history->block_slots.used, err) ||
        collect(&walked->ended, ended->items, ended->count, err))
        return -1;
    for (size_t i = 0; i < LIVE_SETS; i++)
        walked->sets[i].index = INDEX_NONE;
    walked->first_begins = array_new(ended->count / RUN + 1, sizeof *walked->first_begins, err);
    for (size_t i = 0; walked->first_begins && i < ended->count; i++) {
        uint64_t *first = &walked->first_begins[i / RUN];
        if (i % RUN == 0 || walked->ended.items[i] < *first)
            *first = walked->ended.items[i];
    }
    return walked->first_begins ? 0 : -1;
}

void live_sets_release(struct history *history)
{
    struct live_sets *walked = history->walked;
    if (!walked)
        return;
    for (size_t i = 0; i < LIVE_SETS; i++)
        free(walked->sets[i].blocks);
    free(walked->live.items);
    free(walked->ended.items);
    free(walked->first_begins);
    free(walked);
    history->walked = NULL;
}

/*
 * Adds the blocks from `from` to before `until` that began at the set's moment or earlier. Their
 * ends were checked by the caller.
 */
static int add_live(struct live_set *set, const struct beginnings *all, size_t from, size_t until)
{
    struct err ignored; /* walks work without the set */
    for (size_t i = from; i < until; i++) {
        if (all->items[i] > set->index)
            continue;
        if (ARRAY_GROW(set->blocks, set->capacity, set->count, &ignored))
            return -1;
        set->blocks[set->count++] = &all->blocks[i];
    }
    return 0;
}

static int fill_set(struct live_set *set, const struct history *history)
{
    const struct live_sets *walked = history->walked;
    size_t from = first_ended_after(history, set->index);
    set->count = 0;
    if (add_live(set, &walked->live, 0, walked->live.count))
        return -1;
    while (from < walked->ended.count) {
        const size_t end = from - from % RUN + RUN;
        if (walked->first_begins[from / RUN] <= set->index &&
            add_live(set, &walked->ended, from,
                     end < walked->ended.count ? end : walked->ended.count))
            return -1;
        from = end;
    }
    return 0;
}

/* The set of live blocks at the event. NULL: the history is not complete, or memory ran out. */
static const struct live_set *find_set(const struct history *history, uint64_t index)
{
    struct live_sets *walked = history->walked;
    if (!walked || index == INDEX_NONE)
        return NULL;
    for (size_t i = 0; i < LIVE_SETS; i++)
        if (walked->sets[i].index == index)
            return &walked->sets[i];
    struct live_set *set = &walked->sets[walked->next++ % LIVE_SETS];
    set->index = index;
    if (!fill_set(set, history))
        return set;
    set->index = INDEX_NONE;
    return NULL;
}

/* --- walks --- */

struct live_walk live_walk_begin(const struct history *history, uint32_t account, uint64_t index)
{
    return (struct live_walk){
        .history = history, .set = find_set(history, index), .account = account, .index = index};
}

static const struct block *next_of_set(struct live_walk *walk)
{
    const struct live_set *set = walk->set;
    while (walk->live < set->count) {
        const struct block *block = set->blocks[walk->live++];
        if (block->account == walk->account)
            return block;
    }
    return NULL;
}

/* The first live block from items[*next] on; *next is moved behind it. */
static const struct block *next_of(const struct live_walk *walk, const struct block *items,
                                   size_t count, size_t *next)
{
    const uint64_t index = walk->index;
    const uint32_t account = walk->account;
    size_t i = *next;
    while (i < count && (items[i].account != account || !life_covers(&items[i].life, index)))
        i++;
    *next = i < count ? i + 1 : count;
    return i < count ? &items[i] : NULL;
}

const struct block *live_walk_next(struct live_walk *walk)
{
    const struct history *history = walk->history;
    if (walk->set)
        return next_of_set(walk);
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
        if (segment->account == walk->account && life_covers(&segment->life, walk->index))
            return segment;
    }
    while (walk->ended < history->ended_segments.count) {
        const struct segment *segment = &ended[walk->ended++];
        if (segment->account == walk->account && life_covers(&segment->life, walk->index))
            return segment;
    }
    return NULL;
}
