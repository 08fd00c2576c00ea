/* SPDX-License-Identifier: MIT */
/*
 * Private pools of a framework's allocator. Each capture allocates from one pool. The pool of an
 * event is found by the captured stream, or else by the event's thread, whose last capture counts.
 * Captures may share a pool. A pool is gone when the graphs of its captures, and all executable
 * graphs made from them, are destroyed.
 *
 *     capture-begin ─► open ─capture-end─► held by its graph ─graph-made─► and by executable graphs
 *                                          graph-destroy of the last graph: gone
 */
#pragma once

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

/* Each of these functions handles an event, which must have succeeded. The function's name says the
 * kind of event. */
int private_pools_begin(struct private_pools *pools, const struct event *event, struct err *err);
int private_pools_end(struct private_pools *pools, const struct event *event, struct err *err);
int private_pools_make_graph(struct private_pools *pools, const struct event *event,
                             struct err *err);
void private_pools_destroy_graph(struct private_pools *pools, const struct event *event);

/* The pool of the open capture that the event belongs to. PRIVATE_POOL_NONE: it belongs to none. */
uint32_t private_pools_open(const struct private_pools *pools, const struct event *event);
/* Joins the pools, because they turned out to be the same pool. It has the number `to` from now
 * on. */
void private_pools_join(struct private_pools *pools, uint32_t from, uint32_t to);
