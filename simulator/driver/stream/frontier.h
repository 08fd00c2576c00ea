/* SPDX-License-Identifier: MIT */
/*
 * Frontiers: sets of nodes, each with a key. The frontier of a captured stream is the set of nodes
 * that the stream's next node will depend on. The frontier of an event is the frontier that the
 * stream had when the event was recorded. Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "graph.h"

struct frontier {
    struct frontier *next;
    uint64_t key;
    struct graph_node **nodes;
    size_t count;
};

/* NULL: not in the list. */
struct frontier *frontier_find(struct frontier *list, uint64_t key);
/* Finds a set or adds an empty one. NULL: out of memory. */
struct frontier *frontier_add(struct frontier **list, uint64_t key);
void frontier_drop(struct frontier **list, uint64_t key);
void frontier_drop_all(struct frontier **list);
bool frontier_contains(const struct frontier *frontier, const struct graph_node *node);
struct graph_nodes frontier_nodes(const struct frontier *frontier);
CUresult frontier_join(struct frontier *frontier, struct graph_nodes nodes);
CUresult frontier_set(struct frontier *frontier, struct graph_nodes nodes);
