/* SPDX-License-Identifier: MIT */
/* Segments that belong to graphs; see captures.h. */
#include "captures.h"

#include <stdlib.h>

#include "analyzer/replay/history/observer.h"
#include "analyzer/replay/history/past.h"
#include "analyzer/util/array.h"

/* A segment, and when it began, because another segment may have its number by now. */
struct held_segment {
    uint32_t segment;
    uint64_t begin_index;
};

struct held_segments {
    struct held_segment *items;
    size_t count, capacity;
};

void captures_release(struct captures *captures)
{
    for (size_t i = 0; i < captures->held_count; i++)
        free(captures->held[i].items);
    free(captures->held);
    private_pools_release(&captures->pools);
}

/* The segment that is held. NULL: it has ended. */
static struct segment *held_segment(const struct cursor *at, const struct held_segment *held)
{
    struct segment *segment = &at->history->segments[held->segment];
    return segment->account != HISTORY_NONE && segment->life.begin_index == held->begin_index
               ? segment
               : NULL;
}

static size_t count_held(const struct captures *captures, uint32_t pool)
{
    return pool < captures->held_count ? captures->held[pool].count : 0;
}

static void forget_held(struct captures *captures, uint32_t pool)
{
    if (pool < captures->held_count)
        captures->held[pool].count = 0;
}

static void let_go(void *self, uint32_t number)
{
    struct captures *captures = self;
    for (size_t i = 0; i < count_held(captures, number); i++) {
        struct segment *segment = held_segment(captures->at, &captures->held[number].items[i]);
        if (segment)
            segment->of_graph.end_index = captures->at->index;
    }
    forget_held(captures, number);
}

/* --- segments of private pools --- */

static int add_held(struct captures *captures, uint32_t pool, const struct held_segment *held,
                    struct err *err)
{
    if (ARRAY_REACH(captures->held, captures->capacity, captures->held_count, pool, err))
        return -1;
    struct held_segments *list = &captures->held[pool];
    if (ARRAY_GROW(list->items, list->capacity, list->count, err))
        return -1;
    list->items[list->count++] = *held;
    return 0;
}

/* Joins two pools: the one with fewer segments is joined to the other one. */
static int join(struct captures *captures, const struct cursor *at, uint32_t one, uint32_t other)
{
    const bool is_smaller = count_held(captures, one) < count_held(captures, other);
    const uint32_t from = is_smaller ? one : other, to = is_smaller ? other : one;
    for (size_t i = 0; i < count_held(captures, from); i++) {
        const struct held_segment held = captures->held[from].items[i];
        struct segment *segment = held_segment(at, &held);
        if (!segment)
            continue;
        if (add_held(captures, to, &held, at->err))
            return -1;
        segment->private_pool = to;
    }
    forget_held(captures, from);
    private_pools_join(&captures->pools, from, to);
    return 0;
}

/*
 * Makes the segment belong to the pool. If it belonged to an earlier graph, ends that lifetime
 * first, so that the figures at earlier moments stay correct.
 */
static int take_segment(struct captures *captures, const struct cursor *at, uint32_t pool,
                        uint32_t number)
{
    struct segment *segment = &at->history->segments[number], before = *segment;
    before.life.end_index = at->index;
    if (segment->of_graph.begin_index != INDEX_NONE) {
        if (past_end_segment(at->history, &before, at->err) || observers_see_segment(at, &before))
            return -1;
        segment->life.begin_index = at->index;
    }
    segment->of_graph = (struct life){at->index, INDEX_NONE};
    segment->private_pool = pool;
    const struct held_segment held = {number, segment->life.begin_index};
    return add_held(captures, pool, &held, at->err);
}

static int use_segment(struct captures *captures, const struct cursor *at, uint32_t number)
{
    const struct segment *segment = &at->history->segments[number];
    const uint32_t pool = private_pools_open(&captures->pools, at->event);
    if (!segment_is_of_graph(segment, at->index))
        return take_segment(captures, at, pool, number);
    return segment->private_pool == pool ? 0 : join(captures, at, pool, segment->private_pool);
}

/* --- events --- */

static struct private_pools *handle_event(struct captures *captures, const struct cursor *at)
{
    captures->at = at;
    captures->pools.self = captures;
    captures->pools.gone = let_go;
    return &captures->pools;
}

int captures_begin(struct captures *captures, const struct cursor *at)
{
    return private_pools_begin(handle_event(captures, at), at->event, at->err);
}

int captures_end(struct captures *captures, const struct cursor *at)
{
    return private_pools_end(handle_event(captures, at), at->event, at->err);
}

int captures_make_graph(struct captures *captures, const struct cursor *at)
{
    return private_pools_make_graph(handle_event(captures, at), at->event, at->err);
}

void captures_destroy_graph(struct captures *captures, const struct cursor *at)
{
    private_pools_destroy_graph(handle_event(captures, at), at->event);
}

int captures_take_tensor(struct captures *captures, const struct cursor *at,
                         const struct driver_ranges *ranges)
{
    uint64_t address = at->event->address, end;
    uint32_t segment;
    if (private_pools_open(&captures->pools, at->event) == PRIVATE_POOL_NONE)
        return 0;
    if (GMT_ADD_OVERFLOWS(address, at->event->size_bytes, &end))
        end = UINT64_MAX;
    while ((segment = driver_ranges_next_segment(ranges, &address, end)) != HISTORY_NONE)
        if (use_segment(captures, at, segment))
            return -1;
    return 0;
}
