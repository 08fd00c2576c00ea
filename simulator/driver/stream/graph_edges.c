/* SPDX-License-Identifier: MIT */
/*
 * API functions that query graphs and change their edges. Edge data is not simulated: input is
 * ignored, output is zero.
 */
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "graph.h"
#include "simulator/driver/memory/graph_memory.h"

/* --- queries of nodes --- */

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, type != NULL)) {
        const struct graph_node *node = graph_node_of(&call, handle);
        if (node)
            *type = node->type;
    }
    return call_end(&call);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct graph_node *node = graph_node_of(&call, handle);
        if (node && call_requires(&call, parameters && node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC))
            *parameters = node->parameters;
    }
    return call_end(&call);
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct graph_node *node = graph_node_of(&call, handle);
        if (node && call_requires(&call, address && node->type == CU_GRAPH_NODE_TYPE_MEM_FREE))
            *address = node->allocation->block->address;
    }
    return call_end(&call);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *child)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct graph_node *node = graph_node_of(&call, handle);
        if (node && call_requires(&call, child && node->child))
            *child = (CUgraph)(void *)node->child;
    }
    return call_end(&call);
}

/* --- queries of graphs --- */

static CUgraphNode node_handle_of(struct graph_node *node)
{
    return (CUgraphNode)(void *)node;
}

/* A list of nodes or edges that is filled for the caller. If the caller's arrays are NULL, it gets
 * only the length of the list. */
struct listing {
    CUgraphNode *from, *to; /* `to` is only for edges; both may be NULL */
    size_t room, count;
};

static void listing_add(struct listing *listing, struct graph_node *from, struct graph_node *to)
{
    if (listing->count < listing->room) {
        if (listing->from)
            listing->from[listing->count] = node_handle_of(from);
        if (listing->to)
            listing->to[listing->count] = node_handle_of(to);
    }
    listing->count++;
}

/* Fills the rest of the arrays with NULL and sets *count. */
static void listing_finish(struct listing *listing, size_t *count)
{
    for (size_t i = listing->count; i < listing->room; i++) {
        if (listing->from)
            listing->from[i] = NULL;
        if (listing->to)
            listing->to[i] = NULL;
    }
    *count = listing->from && listing->count > listing->room ? listing->room : listing->count;
}

/* Adds the entries of one node to a listing. */
typedef void list_node(struct listing *listing, struct graph_node *node, const void *wanted);

static void list_any(struct listing *listing, struct graph_node *node, GMT_UNUSED const void *none)
{
    listing_add(listing, node, NULL);
}

static void list_root(struct listing *listing, struct graph_node *node, GMT_UNUSED const void *none)
{
    if (!node->dependency_count)
        listing_add(listing, node, NULL);
}

static void list_edges(struct listing *listing, struct graph_node *node,
                       GMT_UNUSED const void *none)
{
    for (size_t i = 0; i < node->dependency_count; i++)
        listing_add(listing, node->dependencies[i], node);
}

static void list_dependencies(struct listing *listing, struct graph_node *node, const void *wanted)
{
    for (size_t i = 0; node == wanted && i < node->dependency_count; i++)
        listing_add(listing, node->dependencies[i], NULL);
}

static void list_dependents(struct listing *listing, struct graph_node *node, const void *wanted)
{
    for (size_t i = 0; i < node->dependency_count; i++)
        if (node->dependencies[i] == wanted)
            listing_add(listing, node, NULL);
}

static void list_all(const struct graph *graph, struct listing listing, size_t *count,
                     list_node *take, const void *wanted)
{
    for (struct graph_node *node = graph->first; node; node = node->next)
        take(&listing, node, wanted);
    listing_finish(&listing, count);
}

static CUresult list_graph(const char *function, CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                           size_t *count, list_node *take)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) && call_requires(&call, count != NULL)) {
        const struct graph *graph = graph_of(&call, handle);
        const struct listing listing = {from, to, from || to ? *count : 0, 0};
        if (graph)
            list_all(graph, listing, count, take, NULL);
    }
    return call_end(&call);
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return list_graph(__func__, graph, nodes, NULL, count, list_any);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return list_graph(__func__, graph, nodes, NULL, count, list_root);
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return list_graph(__func__, graph, from, to, count, list_edges);
}

static void clear_edges(CUresult result, CUgraphEdgeData *edges, const size_t *count)
{
    if (!result && edges)
        memset(edges, 0, *count * sizeof *edges);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *edges, size_t *count)
{
    const CUresult result = list_graph(__func__, graph, from, to, count, list_edges);
    clear_edges(result, edges, count);
    return result;
}

static CUresult list_neighbours(const char *function, CUgraphNode handle, CUgraphNode *nodes,
                                size_t *count, list_node *take)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) && call_requires(&call, count != NULL)) {
        const struct graph_node *node = graph_node_of(&call, handle);
        const struct listing listing = {nodes, NULL, nodes ? *count : 0, 0};
        if (node)
            list_all(node->graph, listing, count, take, node);
    }
    return call_end(&call);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return list_neighbours(__func__, node, nodes, count, list_dependencies);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                       size_t *count)
{
    const CUresult result = list_neighbours(__func__, node, nodes, count, list_dependencies);
    clear_edges(result, edges, count);
    return result;
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return list_neighbours(__func__, node, nodes, count, list_dependents);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                         CUgraphEdgeData *edges, size_t *count)
{
    const CUresult result = list_neighbours(__func__, node, nodes, count, list_dependents);
    clear_edges(result, edges, count);
    return result;
}

/* --- edges --- */

typedef CUresult change_edge(struct graph_node *from, struct graph_node *to);

static CUresult change_edges(const char *function, CUgraph handle, const CUgraphNode *from,
                             const CUgraphNode *to, size_t count, change_edge *change)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) &&
        call_requires(&call, (from && to) || !count)) {
        const struct graph *graph = graph_of(&call, handle);
        for (size_t i = 0; graph && i < count && !call.result; i++) {
            struct graph_node *first = graph_node_of(&call, from[i]),
                              *last = graph_node_of(&call, to[i]);
            if (first && last &&
                call_requires(&call, first->graph == graph && last->graph == graph))
                call.result = change(first, last);
        }
    }
    return call_end(&call);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count)
{
    return change_edges(__func__, graph, from, to, count, graph_add_edge);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   GMT_UNUSED const CUgraphEdgeData *edges, size_t count)
{
    return change_edges(__func__, graph, from, to, count, graph_add_edge);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t count)
{
    return change_edges(__func__, graph, from, to, count, graph_remove_edge);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      GMT_UNUSED const CUgraphEdgeData *edges, size_t count)
{
    return change_edges(__func__, graph, from, to, count, graph_remove_edge);
}
