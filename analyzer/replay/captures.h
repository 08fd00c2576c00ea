/* SPDX-License-Identifier: MIT */
/*
 * Finds the segments of framework pools that belong to CUDA graphs. The segments in which tensors
 * are allocated during a stream capture form a private pool (private_pools.h). Captures that use
 * the same segment share a pool. A pool keeps its segments until the graphs of its captures, and
 * all executable graphs made from them, are destroyed.
 *
 * This file keeps the open captures, the handles of existing graphs, and the segments of each pool.
 */
#pragma once

#include "driver_ranges.h"
#include "private_pools.h"

/* A zeroed struct is empty and ready for use. */
struct captures {
    struct private_pools pools;
    struct held_segments *held; /* the segments of each pool */
    size_t held_count, capacity;
    const struct cursor *at; /* valid while an event is handled */
};

void captures_release(struct captures *captures);

/* Each of these functions handles the current event, which must have succeeded. The function's name
 * says the kind of event. */
int captures_begin(struct captures *captures, const struct cursor *at);
int captures_end(struct captures *captures, const struct cursor *at);
int captures_make_graph(struct captures *captures, const struct cursor *at);
void captures_destroy_graph(struct captures *captures, const struct cursor *at);
/* Handles the current event, which allocated a tensor. The tensor's segments must be known
 * already. */
int captures_take_tensor(struct captures *captures, const struct cursor *at,
                         const struct driver_ranges *ranges);
