/* SPDX-License-Identifier: MIT */
/*
 * The functions that build graphs and tell what is in them. What a graph is, is graph.c's. Edges
 * have no data of their own here: what is passed is not looked at, what is asked for is zero.
 */
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "graph.h"
#include "graph_exec.h"
#include "graph_memory.h"

/* NULL: the result is set. */
static struct graph *find(struct call *call, CUgraph handle)
{
    struct graph *graph = graph_find(handle);
    call_requires(call, graph != NULL);
    return graph;
}

static struct graph_node *find_node(struct call *call, CUgraphNode handle)
{
    struct graph_node *node = graph_node_find(handle);
    call_requires(call, node != NULL);
    return node;
}

static CUgraph handle_of(struct graph *graph)
{
    return (CUgraph)(void *)graph;
}

static CUgraphNode node_handle_of(struct graph_node *node)
{
    return (CUgraphNode)(void *)node;
}

/* Handles of nodes are their addresses. */
static struct graph_nodes nodes_of(const CUgraphNode *handles, size_t count)
{
    return (struct graph_nodes){(struct graph_node *const *)(const void *)handles, count};
}

/* --- graphs --- */

CUresult cuGraphCreate(CUgraph *handle, unsigned int flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, handle && !flags)) {
        struct graph *graph = graph_new();
        if (graph)
            *handle = handle_of(graph);
        else
            call.result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return call_end(&call);
}

CUresult cuGraphClone(CUgraph *handle, CUgraph original)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, handle != NULL)) {
        const struct graph *graph = find(&call, original);
        struct graph *copy = NULL;
        if (graph)
            call.result = graph_copy(graph, &copy);
        if (copy)
            *handle = handle_of(copy);
    }
    return call_end(&call);
}

CUresult cuGraphDestroy(CUgraph handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct graph *graph = find(&call, handle);
        if (graph && call_requires(&call, !graph->is_child && !graph->is_captured_into)) {
            graph_exec_forget(graph);
            graph_delete(graph);
        }
    }
    return call_end(&call);
}

CUresult cuGraphDestroyNode(CUgraphNode handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct graph_node *node = find_node(&call, handle);
        if (node &&
            call_requires(&call, !node->graph->has_memory && !node->graph->is_captured_into))
            graph_remove(node);
    }
    return call_end(&call);
}

/* --- adding nodes: all by one body, which CUgraphNodeParams says everything to --- */

struct addition {
    CUgraphNode *handle;
    CUgraph graph;
    const CUgraphNode *dependencies;
    size_t dependency_count;
};

static CUresult add(const char *function, struct addition what, CUgraphNodeParams *parameters)
{
    struct call call;
    struct graph_node *node = NULL;
    if (call_begin(&call, function, CALL_NEEDS_INIT) &&
        call_requires(&call,
                      what.handle && parameters && (what.dependencies || !what.dependency_count))) {
        struct graph *graph = find(&call, what.graph);
        if (graph)
            call.result = graph_add(graph, nodes_of(what.dependencies, what.dependency_count),
                                    parameters, &node);
        if (node)
            *what.handle = node_handle_of(node);
    }
    return call_end(&call);
}

#define ADDITION ((struct addition){node, graph, dependencies, dependency_count})

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t dependency_count, CUgraphNodeParams *parameters)
{
    return add(__func__, ADDITION, parameters);
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           GMT_UNUSED const CUgraphEdgeData *edges, size_t dependency_count,
                           CUgraphNodeParams *parameters)
{
    return add(__func__, ADDITION, parameters);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                             size_t dependency_count)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return add(__func__, ADDITION, &all);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t dependency_count, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    if (parameters)
        all.kernel = *parameters;
    return add(__func__, ADDITION, parameters ? &all : NULL);
}

/* The first form's parameters are how the second's begin. */
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependency_count, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    if (parameters)
        memcpy(&all.kernel, parameters, sizeof *parameters);
    return add(__func__, ADDITION, parameters ? &all : NULL);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependency_count, const CUDA_MEMCPY3D *copy, CUcontext context)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    all.memcpy.copyCtx = context;
    if (copy)
        all.memcpy.copyParams = *copy;
    return add(__func__, ADDITION, copy ? &all : NULL);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependency_count, const CUDA_MEMSET_NODE_PARAMS *fill,
                              CUcontext context)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    if (fill)
        memcpy(&all.memset, fill, sizeof *fill);
    all.memset.ctx = context;
    return add(__func__, ADDITION, fill ? &all : NULL);
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                            size_t dependency_count, const CUDA_HOST_NODE_PARAMS *parameters)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_HOST};
    if (parameters)
        memcpy(&all.host, parameters, sizeof *parameters);
    return add(__func__, ADDITION, parameters ? &all : NULL);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t dependency_count, CUgraph child)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    all.graph.graph = child;
    return add(__func__, ADDITION, &all);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *dependencies, size_t dependency_count,
                                   CUevent event)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    all.eventRecord.event = event;
    return add(__func__, ADDITION, &all);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t dependency_count, CUevent event)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    all.eventWait.event = event;
    return add(__func__, ADDITION, &all);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t dependency_count, CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    if (parameters)
        memcpy(&all.alloc, parameters, sizeof *parameters);
    const CUresult result = add(__func__, ADDITION, parameters ? &all : NULL);
    if (!result)
        parameters->dptr = all.alloc.dptr;
    return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t dependency_count, CUdeviceptr address)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    all.free.dptr = address;
    return add(__func__, ADDITION, &all);
}

/* --- what a node is --- */

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, type != NULL)) {
        const struct graph_node *node = find_node(&call, handle);
        if (node)
            *type = node->type;
    }
    return call_end(&call);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct graph_node *node = find_node(&call, handle);
        if (node && call_requires(&call, parameters && node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC))
            *parameters = node->parameters;
    }
    return call_end(&call);
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct graph_node *node = find_node(&call, handle);
        if (node && call_requires(&call, address && node->type == CU_GRAPH_NODE_TYPE_MEM_FREE))
            *address = node->allocation->block->address;
    }
    return call_end(&call);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *child)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct graph_node *node = find_node(&call, handle);
        if (node && call_requires(&call, child && node->child))
            *child = handle_of(node->child);
    }
    return call_end(&call);
}

/* --- what is in a graph --- */

/* A list that the caller may ask the length of first, by giving no room for it. */
struct listing {
    CUgraphNode *from, *to; /* to: for edges; either may be NULL */
    size_t room, count;
};

static void list(struct listing *listing, struct graph_node *from, struct graph_node *to)
{
    if (listing->count < listing->room) {
        if (listing->from)
            listing->from[listing->count] = node_handle_of(from);
        if (listing->to)
            listing->to[listing->count] = node_handle_of(to);
    }
    listing->count++;
}

/* Room that is left over is said to be so. */
static void finish(struct listing *listing, size_t *count)
{
    for (size_t i = listing->count; i < listing->room; i++) {
        if (listing->from)
            listing->from[i] = NULL;
        if (listing->to)
            listing->to[i] = NULL;
    }
    *count = listing->from && listing->count > listing->room ? listing->room : listing->count;
}

/* What a listing takes of each node. */
typedef void list_node(struct listing *listing, struct graph_node *node, const void *wanted);

static void list_any(struct listing *listing, struct graph_node *node, GMT_UNUSED const void *none)
{
    list(listing, node, NULL);
}

static void list_root(struct listing *listing, struct graph_node *node, GMT_UNUSED const void *none)
{
    if (!node->dependency_count)
        list(listing, node, NULL);
}

static void list_edges(struct listing *listing, struct graph_node *node,
                       GMT_UNUSED const void *none)
{
    for (size_t i = 0; i < node->dependency_count; i++)
        list(listing, node->dependencies[i], node);
}

static void list_dependencies(struct listing *listing, struct graph_node *node, const void *wanted)
{
    for (size_t i = 0; node == wanted && i < node->dependency_count; i++)
        list(listing, node->dependencies[i], NULL);
}

static void list_dependents(struct listing *listing, struct graph_node *node, const void *wanted)
{
    for (size_t i = 0; i < node->dependency_count; i++)
        if (node->dependencies[i] == wanted)
            list(listing, node, NULL);
}

static void list_all(const struct graph *graph, struct listing listing, size_t *count,
                     list_node *take, const void *wanted)
{
    for (struct graph_node *node = graph->first; node; node = node->next)
        take(&listing, node, wanted);
    finish(&listing, count);
}

static CUresult list_graph(const char *function, CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                           size_t *count, list_node *take)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) && call_requires(&call, count != NULL)) {
        const struct graph *graph = find(&call, handle);
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
        const struct graph_node *node = find_node(&call, handle);
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
        const struct graph *graph = find(&call, handle);
        for (size_t i = 0; graph && i < count && !call.result; i++) {
            struct graph_node *first = find_node(&call, from[i]), *last = find_node(&call, to[i]);
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
