/* SPDX-License-Identifier: MIT */
/*
 * Which segments of a framework pool belong to CUDA graphs. The segments in which tensors were taken
 * while a stream was captured, by that stream or by the thread that began the capture last, are a private
 * pool. Captures that took tensors in one segment share theirs. It is held until the captures' graphs,
 * and what was made of them, are destroyed. It must not know frameworks.
 *
 *     capture-begin ──► open ──capture-end──► held by its graph ──graph-made──► and by executable ones
 *                         │ tensors: their segments                  graph-destroy of the last: let go
 *
 * It keeps the open captures, the handles of graphs that exist, and the segments that they hold.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_CAPTURES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_CAPTURES_H

#include "analyzer/util/address_map.h"
#include "driver_ranges.h"

/* A zeroed one is empty and ready for use. */
struct captures {
    struct private_pool *pools;
    size_t capacity;
    struct slots slots;
    struct address_map
        map; /* of pools, by captured stream, capturing thread and handle of a graph */
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
