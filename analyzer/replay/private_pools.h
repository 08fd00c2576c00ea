/* SPDX-License-Identifier: MIT */
/*
 * Private pools of a framework's allocator. A capture allocates from one pool, found by the
 * captured stream, else by the thread that began the capture last. Captures may share a pool. The
 * pool is gone when the graphs of its captures, and all that was made of those graphs, are
 * destroyed.
 *
 *     capture-begin ─► open ─capture-end─► held by its graph ─graph-made─► and by executable graphs
 *                                          graph-destroy of the last graph: gone
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_PRIVATE_POOLS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_PRIVATE_POOLS_H

#include <stdint.h>

#include "analyzer/util/pair_map.h"
#include "analyzer/util/slots.h"
#include "gpumemtrace/event.h"

#define PRIVATE_POOL_NONE UINT32_MAX

/* A zeroed struct is empty and ready for use. */
struct private_pools {
    struct private_pool *items;
    size_t capacity, open_count; /* open_count: open captures */
    struct slots slots;
    struct pair_map map; /* pools by captured stream, capturing thread and graph handle */
    /* Called when a pool is gone; another pool may get its number. */
    void (*gone)(void *self, uint32_t number);
    void *self; /* for gone, while events are handled */
};

void private_pools_release(struct private_pools *pools);

/* The event is of the kind that the function's name says, and succeeded. */
int private_pools_begin(struct private_pools *pools, const struct event *event, struct err *err);
int private_pools_end(struct private_pools *pools, const struct event *event, struct err *err);
int private_pools_make_graph(struct private_pools *pools, const struct event *event,
                             struct err *err);
void private_pools_destroy_graph(struct private_pools *pools, const struct event *event);

/* Pool of the open capture that the event belongs to; PRIVATE_POOL_NONE: none. */
uint32_t private_pools_open(const struct private_pools *pools, const struct event *event);
/* Both are the same pool, which is `to` from now on. */
void private_pools_join(struct private_pools *pools, uint32_t from, uint32_t to);

#endif
