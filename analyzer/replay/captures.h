/* SPDX-License-Identifier: MIT */
/*
 * Segments of framework pools that belong to CUDA graphs. Segments in which tensors are allocated
 * during a stream capture form a private pool (private_pools.h); captures that use the same segment
 * share a pool. A pool is held until the graphs of its captures, and all that was made of those
 * graphs, are destroyed.
 *
 * Kept are the open captures, the handles of existing graphs, and the segments that each pool
 * holds.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_CAPTURES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_CAPTURES_H

#include "driver_ranges.h"
#include "private_pools.h"

/* A zeroed struct is empty and ready for use. */
struct captures {
    struct private_pools pools;
    struct held_segments *held; /* of each pool */
    size_t held_count, capacity;
    const struct cursor *at; /* valid while an event is handled */
};

void captures_release(struct captures *captures);

/* The current event is of the kind that the function's name says, and succeeded. */
int captures_begin(struct captures *captures, const struct cursor *at);
int captures_end(struct captures *captures, const struct cursor *at);
int captures_make_graph(struct captures *captures, const struct cursor *at);
void captures_destroy_graph(struct captures *captures, const struct cursor *at);
/* The current event allocated a tensor whose segments are known already. */
int captures_take_tensor(struct captures *captures, const struct cursor *at,
                         const struct driver_ranges *ranges);

#endif
