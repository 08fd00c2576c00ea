/* SPDX-License-Identifier: MIT */
/*
 * Frontiers as linked lists, because few streams and events belong to a capture. See frontier.h.
 */
#include "frontier.h"

#include <stdlib.h>

struct frontier *frontier_find(struct frontier *list, uint64_t key)
{
    while (list && list->key != key)
        list = list->next;
    return list;
}

struct frontier *frontier_add(struct frontier **list, uint64_t key)
{
    struct frontier *frontier = frontier_find(*list, key);
    if (frontier)
        return frontier;
    frontier = calloc(1, sizeof *frontier);
    if (!frontier)
        return NULL;
    frontier->key = key;
    frontier->next = *list;
    *list = frontier;
    return frontier;
}

void frontier_drop(struct frontier **list, uint64_t key)
{
    while (*list && (*list)->key != key)
        list = &(*list)->next;
    struct frontier *gone = *list;
    if (!gone)
        return;
    *list = gone->next;
    free(gone->nodes);
    free(gone);
}

bool frontier_contains(const struct frontier *frontier, const struct graph_node *node)
{
    for (size_t i = 0; i < frontier->count; i++)
        if (frontier->nodes[i] == node)
            return true;
    return false;
}

CUresult frontier_join(struct frontier *frontier, struct graph_nodes nodes)
{
    void *more =
        realloc(frontier->nodes, (frontier->count + nodes.count + 1) * sizeof *frontier->nodes);
    if (!more)
        return CUDA_ERROR_OUT_OF_MEMORY;
    frontier->nodes = more;
    for (size_t i = 0; i < nodes.count; i++)
        if (!frontier_contains(frontier, nodes.items[i]))
            frontier->nodes[frontier->count++] = nodes.items[i];
    return CUDA_SUCCESS;
}

CUresult frontier_set(struct frontier *frontier, struct graph_nodes nodes)
{
    frontier->count = 0;
    return frontier_join(frontier, nodes);
}

void frontier_drop_all(struct frontier **list)
{
    while (*list)
        frontier_drop(list, (*list)->key);
}

struct graph_nodes frontier_nodes(const struct frontier *frontier)
{
    return (struct graph_nodes){frontier->nodes, frontier->count};
}
