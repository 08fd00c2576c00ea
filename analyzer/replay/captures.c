/* SPDX-License-Identifier: MIT */
/*
 * Segments that belong to graphs; see captures.h. A private pool is found by any of its captures: an
 * entry of the map leads to the pool of its capture, and pools that were joined lead on.
 */
#include "captures.h"

#include <stdlib.h>

#include "analyzer/replay/history/past.h"
#include "analyzer/util/array.h"
#include "gpumemtrace/event.h"

enum { SPACE_STREAM, SPACE_THREAD, SPACE_GRAPH_HANDLE };

/* A segment as it was then: its number may be another's by now. */
struct held_segment {
    uint32_t segment;
    uint64_t begin_index;
};

/* Made by a capture. */
struct private_pool {
    uint32_t joined_to; /* HISTORY_NONE: to none */
    uint32_t
        links_count;    /* streams, handles of graphs and pools that lead to it; the last lets go */
    uint32_t thread_id; /* that began the capture */
    struct held_segment *held;
    size_t held_count, held_capacity;
};

void captures_release(struct captures *captures)
{
    for (size_t i = 0; i < captures->slots.used && i < captures->capacity; i++)
        free(captures->pools[i].held);
    free(captures->pools);
    slots_release(&captures->slots);
    address_map_release(&captures->map);
}

static uint32_t find_pool(const struct captures *captures, uint32_t number)
{
    while (captures->pools[number].joined_to != HISTORY_NONE)
        number = captures->pools[number].joined_to;
    return number;
}

/* NULL: the segment is over. */
static struct segment *held_segment(const struct cursor *at, const struct held_segment *held)
{
    struct segment *segment = &at->history->segments[held->segment];
    return segment->stock != HISTORY_NONE && segment->life.begin_index == held->begin_index
               ? segment
               : NULL;
}

static void let_go(const struct cursor *at, const struct private_pool *pool)
{
    for (size_t i = 0; i < pool->held_count; i++) {
        struct segment *segment = held_segment(at, &pool->held[i]);
        if (segment)
            segment->of_graph.end_index = at->index;
    }
}

static void unlink_pool(struct captures *captures, const struct cursor *at, uint32_t number)
{
    while (number != HISTORY_NONE) {
        struct private_pool *pool = &captures->pools[number];
        const uint32_t next = pool->joined_to;
        if (--pool->links_count)
            return;
        let_go(at, pool);
        free(pool->held);
        *pool = (struct private_pool){.joined_to = HISTORY_NONE};
        slots_give_back(&captures->slots, number);
        number = next;
    }
}

/* --- segments of private pools --- */

static int add_held(struct private_pool *pool, const struct held_segment *held, struct err *err)
{
    struct held_segment *grown =
        array_grow(pool->held, &pool->held_capacity, pool->held_count, sizeof *grown, err);
    if (!grown)
        return -1;
    pool->held = grown;
    grown[pool->held_count++] = *held;
    return 0;
}

/* The one with fewer segments is joined to the other. */
static int join(struct captures *captures, const struct cursor *at, uint32_t one, uint32_t other)
{
    const bool is_smaller = captures->pools[one].held_count < captures->pools[other].held_count;
    const uint32_t from = is_smaller ? one : other, to = is_smaller ? other : one;
    struct private_pool *joined = &captures->pools[from];
    for (size_t i = 0; i < joined->held_count; i++) {
        struct segment *segment = held_segment(at, &joined->held[i]);
        if (!segment)
            continue;
        if (add_held(&captures->pools[to], &joined->held[i], at->err))
            return -1;
        segment->private_pool = to;
    }
    joined->held_count = 0;
    joined->joined_to = to;
    captures->pools[to].links_count++;
    return 0;
}

/* One that was a graph's before and is none's now is over as such: moments of then may be asked for. */
static int take_segment(struct captures *captures, const struct cursor *at, uint32_t pool,
                        uint32_t number)
{
    struct segment *segment = &at->history->segments[number], before = *segment;
    before.life.end_index = at->index;
    if (segment->of_graph.begin_index != INDEX_NONE) {
        if (past_end_segment(at->history, &before, at->err))
            return -1;
        segment->life.begin_index = at->index;
    }
    segment->of_graph = (struct life){at->index, INDEX_NONE};
    segment->private_pool = pool;
    const struct held_segment held = {number, segment->life.begin_index};
    return add_held(&captures->pools[pool], &held, at->err);
}

static int use_segment(struct captures *captures, const struct cursor *at, uint32_t capture,
                       uint32_t number)
{
    const struct segment *segment = &at->history->segments[number];
    const uint32_t pool = find_pool(captures, capture);
    if (!segment_is_of_graph(segment, at->index))
        return take_segment(captures, at, pool, number);
    return segment->private_pool == pool ? 0 : join(captures, at, pool, segment->private_pool);
}

/* --- open captures --- */

/* The capture that is no longer open: it is found by its stream, and by its thread unless that has begun
 * another since. */
static uint32_t close_capture(struct captures *captures, uint64_t stream)
{
    const uint32_t number = address_map_remove(&captures->map, SPACE_STREAM, stream);
    if (number == ADDRESS_MAP_NONE)
        return number;
    const uint32_t thread_id = captures->pools[number].thread_id;
    if (address_map_get(&captures->map, SPACE_THREAD, thread_id) == number)
        address_map_remove(&captures->map, SPACE_THREAD, thread_id);
    return number;
}

int captures_begin(struct captures *captures, const struct cursor *at)
{
    const struct event *event = at->event;
    const uint32_t before = close_capture(captures, event->stream);
    if (before != ADDRESS_MAP_NONE)
        unlink_pool(captures, at, before);
    const uint32_t number = slots_take(&captures->slots, at->err);
    if (number == SLOT_NONE)
        return -1;
    struct private_pool *grown =
        array_grow(captures->pools, &captures->capacity, number, sizeof *grown, at->err);
    if (!grown)
        return -1;
    captures->pools = grown;
    grown[number] = (struct private_pool){
        .joined_to = HISTORY_NONE, .links_count = 1, .thread_id = event->thread_id};
    return address_map_put(&captures->map, SPACE_STREAM, event->stream, number, at->err) ||
                   address_map_put(&captures->map, SPACE_THREAD, event->thread_id, number, at->err)
               ? -1
               : 0;
}

static uint32_t find_open(const struct captures *captures, const struct event *event)
{
    const uint32_t number = event->stream == STREAM_UNKNOWN
                                ? ADDRESS_MAP_NONE
                                : address_map_get(&captures->map, SPACE_STREAM, event->stream);
    return number == ADDRESS_MAP_NONE
               ? address_map_get(&captures->map, SPACE_THREAD, event->thread_id)
               : number;
}

int captures_take_tensor(struct captures *captures, const struct cursor *at,
                         const struct driver_ranges *ranges)
{
    uint64_t address = at->event->address, end;
    const uint32_t open = captures->map.count ? find_open(captures, at->event) : ADDRESS_MAP_NONE;
    uint32_t segment;
    if (open == ADDRESS_MAP_NONE)
        return 0;
    if (GMT_ADD_OVERFLOWS(address, at->event->size_bytes, &end))
        end = UINT64_MAX;
    while ((segment = driver_ranges_next_segment(ranges, &address, end)) != HISTORY_NONE)
        if (use_segment(captures, at, open, segment))
            return -1;
    return 0;
}

/* --- graphs --- */

static void drop_handle(struct captures *captures, const struct cursor *at, uint64_t handle)
{
    const uint32_t number = address_map_remove(&captures->map, SPACE_GRAPH_HANDLE, handle);
    if (number != ADDRESS_MAP_NONE)
        unlink_pool(captures, at, number);
}

/* From now on the handle, which may be in use again, means this pool. */
static int add_handle(struct captures *captures, const struct cursor *at, uint32_t number,
                      uint64_t handle)
{
    captures->pools[number].links_count++;
    drop_handle(captures, at, handle);
    return address_map_put(&captures->map, SPACE_GRAPH_HANDLE, handle, number, at->err);
}

int captures_end(struct captures *captures, const struct cursor *at)
{
    const uint32_t number = close_capture(captures, at->event->stream);
    if (number == ADDRESS_MAP_NONE)
        return 0;
    const int status = at->event->object ? add_handle(captures, at, number, at->event->object) : 0;
    unlink_pool(captures, at, number);
    return status;
}

int captures_make_graph(struct captures *captures, const struct cursor *at)
{
    const uint32_t number = address_map_get(&captures->map, SPACE_GRAPH_HANDLE, at->event->address);
    return number == ADDRESS_MAP_NONE ? 0 : add_handle(captures, at, number, at->event->object);
}

void captures_destroy_graph(struct captures *captures, const struct cursor *at)
{
    drop_handle(captures, at, at->event->object);
}
