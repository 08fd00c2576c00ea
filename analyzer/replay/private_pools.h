/* SPDX-License-Identifier: MIT */
/*
 * Private pools of a framework's allocator: each capture of a stream takes its memory from one, by that
 * stream or by the thread that began the capture last, and captures may share theirs. One is gone with
 * the last of the captures' graphs and of what was made of those. It must not know what memory a pool
 * has.
 *
 *     capture-begin ──► open ──capture-end──► held by its graph ──graph-made──► and by executable ones
 *                                             graph-destroy of the last: gone
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_PRIVATE_POOLS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_PRIVATE_POOLS_H

#include <stdint.h>

#include "analyzer/util/pair_map.h"
#include "analyzer/util/slots.h"
#include "gpumemtrace/event.h"

#define PRIVATE_POOL_NONE UINT32_MAX

/* A zeroed one is empty and ready for use. */
struct private_pools {
    struct private_pool *items;
    size_t capacity, open_count; /* captures that are open */
    struct slots slots;
    struct pair_map map; /* of pools, by captured stream, capturing thread and handle of a graph */
    /* A pool is gone; its number may be another's from now on. */
    void (*gone)(void *self, uint32_t number);
    void *self; /* for gone, while events are handled */
};

void private_pools_release(struct private_pools *pools);

/* The event is of that kind, and it succeeded. */
int private_pools_begin(struct private_pools *pools, const struct event *event, struct err *err);
int private_pools_end(struct private_pools *pools, const struct event *event, struct err *err);
int private_pools_make_graph(struct private_pools *pools, const struct event *event,
                             struct err *err);
void private_pools_destroy_graph(struct private_pools *pools, const struct event *event);

/* Of the open capture that the event belongs to; PRIVATE_POOL_NONE: to none. */
uint32_t private_pools_open(const struct private_pools *pools, const struct event *event);
/* They turned out to be one, which is `to` from now on. */
void private_pools_join(struct private_pools *pools, uint32_t from, uint32_t to);

#endif
