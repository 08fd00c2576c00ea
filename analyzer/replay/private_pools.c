/* SPDX-License-Identifier: MIT */
/*
 * Private pools; see private_pools.h. The map leads from streams, threads and graph handles to the
 * pool of a capture; a joined pool leads on to the pool that it was joined to.
 */
#include "private_pools.h"

#include <stdlib.h>

#include "analyzer/replay/history/history.h"
#include "analyzer/util/array.h"

enum { SPACE_STREAM, SPACE_THREAD, SPACE_GRAPH_HANDLE };

/* A private pool. Each capture makes a new one, which may be joined to another pool later. */
struct private_pool {
    uint32_t joined_to;   /* PRIVATE_POOL_NONE: not joined */
    uint32_t links_count; /* streams, graph handles and pools that lead to it; at 0 it is gone */
    uint32_t thread_id;   /* thread that began the capture */
};

void private_pools_release(struct private_pools *pools)
{
    free(pools->items);
    slots_release(&pools->slots);
    pair_map_release(&pools->map);
}

static void unlink_pool(struct private_pools *pools, uint32_t number)
{
    while (number != PRIVATE_POOL_NONE) {
        struct private_pool *pool = &pools->items[number];
        const uint32_t next = pool->joined_to;
        if (--pool->links_count)
            return;
        pools->gone(pools->self, number);
        *pool = (struct private_pool){.joined_to = PRIVATE_POOL_NONE};
        slots_give_back(&pools->slots, number);
        number = next;
    }
}

void private_pools_join(struct private_pools *pools, uint32_t from, uint32_t to)
{
    pools->items[from].joined_to = to;
    pools->items[to].links_count++;
}

/* --- open captures --- */

/*
 * Removes the open capture of the stream from the map, also under its thread, unless the thread has
 * begun another capture since. Returns the capture's pool.
 */
static uint32_t close_capture(struct private_pools *pools, uint64_t stream)
{
    const uint32_t number = pair_map_remove(&pools->map, SPACE_STREAM, stream);
    if (number == PAIR_MAP_NONE)
        return number;
    pools->open_count--;
    const uint32_t thread_id = pools->items[number].thread_id;
    if (pair_map_get(&pools->map, SPACE_THREAD, thread_id) == number)
        pair_map_remove(&pools->map, SPACE_THREAD, thread_id);
    return number;
}

int private_pools_begin(struct private_pools *pools, const struct event *event, struct err *err)
{
    const uint32_t before = close_capture(pools, event->stream);
    if (before != PAIR_MAP_NONE)
        unlink_pool(pools, before);
    const uint32_t number = slots_take(&pools->slots, err);
    if (number == SLOT_NONE)
        return -1;
    if (ARRAY_GROW(pools->items, pools->capacity, number, err))
        return -1;
    pools->open_count++;
    pools->items[number] = (struct private_pool){
        .joined_to = PRIVATE_POOL_NONE, .links_count = 1, .thread_id = event->thread_id};
    return pair_map_put(&pools->map, SPACE_STREAM, event->stream, number, err) ||
                   pair_map_put(&pools->map, SPACE_THREAD, event->thread_id, number, err)
               ? -1
               : 0;
}

uint32_t private_pools_open(const struct private_pools *pools, const struct event *event)
{
    uint32_t number = PAIR_MAP_NONE;
    if (!pools->map.count)
        return PRIVATE_POOL_NONE;
    if (event->stream != STREAM_UNKNOWN)
        number = pair_map_get(&pools->map, SPACE_STREAM, event->stream);
    if (number == PAIR_MAP_NONE)
        number = pair_map_get(&pools->map, SPACE_THREAD, event->thread_id);
    if (number == PAIR_MAP_NONE)
        return PRIVATE_POOL_NONE;
    while (pools->items[number].joined_to != PRIVATE_POOL_NONE)
        number = pools->items[number].joined_to;
    return number;
}

/* --- graphs --- */

static void drop_handle(struct private_pools *pools, uint64_t handle)
{
    const uint32_t number = pair_map_remove(&pools->map, SPACE_GRAPH_HANDLE, handle);
    if (number != PAIR_MAP_NONE)
        unlink_pool(pools, number);
}

/* The handle means this pool from now on; it may have been another graph's before. */
static int add_handle(struct private_pools *pools, uint32_t number, uint64_t handle,
                      struct err *err)
{
    pools->items[number].links_count++;
    drop_handle(pools, handle);
    return pair_map_put(&pools->map, SPACE_GRAPH_HANDLE, handle, number, err);
}

int private_pools_end(struct private_pools *pools, const struct event *event, struct err *err)
{
    const uint32_t number = close_capture(pools, event->stream);
    if (number == PAIR_MAP_NONE)
        return 0;
    const int status = event->object ? add_handle(pools, number, event->object, err) : 0;
    unlink_pool(pools, number);
    return status;
}

int private_pools_make_graph(struct private_pools *pools, const struct event *event,
                             struct err *err)
{
    const uint32_t number = pair_map_get(&pools->map, SPACE_GRAPH_HANDLE, event->address);
    return number == PAIR_MAP_NONE ? 0 : add_handle(pools, number, event->object, err);
}

void private_pools_destroy_graph(struct private_pools *pools, const struct event *event)
{
    drop_handle(pools, event->object);
}
