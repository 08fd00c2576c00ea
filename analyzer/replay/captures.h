/* SPDX-License-Identifier: MIT */
/*
 * Which segments of a framework pool belong to CUDA graphs. The segments in which tensors were taken
 * while a stream was captured are a private pool (private_pools.h). Captures that took tensors in one
 * segment share theirs. It is held until the captures' graphs, and what was made of them, are destroyed.
 * It must not know frameworks.
 *
 * It keeps the open captures, the handles of graphs that exist, and the segments that they hold.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_CAPTURES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_CAPTURES_H

#include "driver_ranges.h"
#include "private_pools.h"

/* A zeroed one is empty and ready for use. */
struct captures {
    struct private_pools pools;
    struct held_segments *held; /* of each pool */
    size_t held_count, capacity;
    const struct cursor *at; /* while an event is handled */
};

void captures_release(struct captures *captures);

/* The current event is of that kind, and it succeeded. */
int captures_begin(struct captures *captures, const struct cursor *at);
int captures_end(struct captures *captures, const struct cursor *at);
int captures_make_graph(struct captures *captures, const struct cursor *at);
void captures_destroy_graph(struct captures *captures, const struct cursor *at);
/* The current event took a tensor, whose segments are known. */
int captures_take_tensor(struct captures *captures, const struct cursor *at,
                         const struct driver_ranges *ranges);

#endif
