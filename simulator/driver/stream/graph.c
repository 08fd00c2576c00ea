/* SPDX-License-Identifier: MIT */
/*
 * Graphs and their nodes. See graph.h; the API functions are in graph_api.c.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "simulator/driver/memory/graph_memory.h"

struct graph *graph_find(CUgraph handle)
{
    return object_find(handle, OBJECT_GRAPH);
}

struct graph_node *graph_node_find(CUgraphNode handle)
{
    return object_find(handle, OBJECT_GRAPH_NODE);
}

struct graph *graph_of(struct call *call, CUgraph handle)
{
    struct graph *graph = graph_find(handle);
    call_requires(call, graph != NULL);
    return graph;
}

struct graph_node *graph_node_of(struct call *call, CUgraphNode handle)
{
    struct graph_node *node = graph_node_find(handle);
    call_requires(call, node != NULL);
    return node;
}

struct graph *graph_new(void)
{
    return object_new(OBJECT_GRAPH, NULL, sizeof(struct graph));
}

uint64_t graph_stamp(void)
{
    static uint64_t last;
    return ++last;
}

/* --- nodes --- */

static void node_delete(struct graph_node *node)
{
    if (node->allocation) {
        if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            node->allocation->owner = NULL;
        graph_allocation_release(node->allocation);
    }
    if (node->child)
        graph_delete(node->child);
    free(node->dependencies);
    object_delete(node);
}

void graph_delete(struct graph *graph)
{
    while (graph->first) {
        struct graph_node *node = graph->first;
        graph->first = node->next;
        node_delete(node);
    }
    object_delete(graph);
}

bool graph_owns(const struct graph *graph, struct graph_nodes nodes)
{
    const uint64_t stamp = graph_stamp();
    for (size_t i = 0; i < nodes.count; i++) {
        struct graph_node *node = graph_node_find((CUgraphNode)(void *)nodes.items[i]);
        if (!node || node->graph != graph || node->stamp == stamp)
            return false;
        node->stamp = stamp;
    }
    return true;
}

/* Creates a node without adding it to the graph. NULL: out of memory. */
static struct graph_node *node_new(struct graph *graph, struct graph_nodes dependencies,
                                   CUgraphNodeType type)
{
    struct graph_node *node = object_new(OBJECT_GRAPH_NODE, NULL, sizeof *node);
    if (!node)
        return NULL;
    node->graph = graph;
    node->type = type;
    if (!dependencies.count)
        return node;
    node->dependencies = calloc(dependencies.count, sizeof *node->dependencies);
    if (!node->dependencies) {
        object_delete(node);
        return NULL;
    }
    memcpy(node->dependencies, dependencies.items, dependencies.count * sizeof *node->dependencies);
    node->dependency_count = dependencies.count;
    return node;
}

static void node_append(struct graph *graph, struct graph_node *node)
{
    if (graph->last)
        graph->last->next = node;
    else
        graph->first = node;
    graph->last = node;
    graph->node_count++;
}

/* --- edges --- */

/* Returns the index of `from` among the dependencies of `to`. If there is no such edge, returns the
 * number of dependencies. */
static size_t edge_place(const struct graph_node *from, const struct graph_node *to)
{
    size_t place = 0;
    while (place < to->dependency_count && to->dependencies[place] != from)
        place++;
    return place;
}

CUresult graph_add_edge(struct graph_node *from, struct graph_node *to)
{
    if (from == to || edge_place(from, to) < to->dependency_count)
        return CUDA_ERROR_INVALID_VALUE;
    void *more = realloc(to->dependencies, (to->dependency_count + 1) * sizeof *to->dependencies);
    if (!more)
        return CUDA_ERROR_OUT_OF_MEMORY;
    to->dependencies = more;
    to->dependencies[to->dependency_count++] = from;
    return CUDA_SUCCESS;
}

static void forget_edge(struct graph_node *from, struct graph_node *to)
{
    const size_t place = edge_place(from, to);
    if (place < to->dependency_count)
        to->dependencies[place] = to->dependencies[--to->dependency_count];
}

CUresult graph_remove_edge(struct graph_node *from, struct graph_node *to)
{
    if (from->graph->has_memory || edge_place(from, to) == to->dependency_count)
        return CUDA_ERROR_INVALID_VALUE;
    forget_edge(from, to);
    return CUDA_SUCCESS;
}

void graph_remove(struct graph_node *node)
{
    struct graph *graph = node->graph;
    struct graph_node **place = &graph->first, *before = NULL;
    for (struct graph_node *other = graph->first; other; other = other->next)
        forget_edge(node, other);
    while (*place != node) {
        before = *place;
        place = &before->next;
    }
    *place = node->next;
    if (graph->last == node)
        graph->last = before;
    graph->node_count--;
    node_delete(node);
}

/* --- effects of nodes --- */

static CUresult set_allocation(struct graph_node *node, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *parameters)
{
    const CUmemPoolProps *properties = &parameters->poolProps;
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE || !parameters->bytesize ||
        (parameters->accessDescCount && !parameters->accessDescs))
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!device_at(properties->location.id))
        return CUDA_ERROR_INVALID_VALUE;
    node->parameters.poolProps = *properties;
    node->parameters.bytesize = parameters->bytesize;
    const CUresult result = graph_allocation_new(&node->parameters, node->graph, &node->allocation);
    if (result)
        return result;
    node->parameters.dptr = node->allocation->block->address;
    parameters->dptr = node->parameters.dptr;
    return CUDA_SUCCESS;
}

static bool is_freed_by(const struct graph *graph, const struct graph_allocation *allocation)
{
    for (const struct graph_node *node = graph->first; node; node = node->next)
        if (node->type == CU_GRAPH_NODE_TYPE_MEM_FREE && node->allocation == allocation)
            return true;
    return false;
}

/* Lets a node free an allocation. An allocation may be freed once in its own graph, or in other
 * graphs, but not in both. */
static CUresult set_free(struct graph_node *node, uint64_t address)
{
    struct graph_allocation *allocation = graph_allocation_at(address);
    const bool inside = allocation && allocation->owner == node->graph;
    if (!allocation || allocation->is_freed_inside || (inside && allocation->is_freed_outside) ||
        is_freed_by(node->graph, allocation))
        return CUDA_ERROR_INVALID_VALUE;
    if (inside)
        allocation->is_freed_inside = true;
    else
        allocation->is_freed_outside = true;
    graph_allocation_retain(allocation);
    node->allocation = allocation;
    return CUDA_SUCCESS;
}

static CUresult set_child(struct graph_node *node, const CUDA_CHILD_GRAPH_NODE_PARAMS *parameters)
{
    struct graph *child = graph_find(parameters->graph);
    if (!child || child == node->graph || child->is_child || child->is_captured_into)
        return CUDA_ERROR_INVALID_VALUE;
    if (parameters->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) {
        const CUresult result = graph_copy(child, &node->child);
        if (result)
            return result;
    } else if (parameters->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE && !child->exec) {
        node->child = child;
    } else {
        return CUDA_ERROR_INVALID_VALUE;
    }
    node->child->is_child = true;
    return CUDA_SUCCESS;
}

static CUresult check_kernel(const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    const void *function = kernel->func ? (const void *)kernel->func : (const void *)kernel->kern;
    return object_find(function, OBJECT_FUNCTION) && kernel->gridDimX && kernel->gridDimY &&
                   kernel->gridDimZ && kernel->blockDimX && kernel->blockDimY && kernel->blockDimZ
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_fill(const CUDA_MEMSET_NODE_PARAMS_v2 *fill)
{
    const unsigned unit = fill->elementSize;
    return (unit == 1 || unit == 2 || unit == 4) && fill->dst ? CUDA_SUCCESS
                                                              : CUDA_ERROR_INVALID_VALUE;
}

static CUresult node_describe(struct graph_node *node, CUgraphNodeParams *parameters)
{
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return check_kernel(&parameters->kernel);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return check_fill(&parameters->memset);
    case CU_GRAPH_NODE_TYPE_HOST:
        node->host = (CUDA_HOST_NODE_PARAMS){parameters->host.fn, parameters->host.userData};
        return node->host.fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return set_child(node, &parameters->graph);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return object_find(parameters->eventWait.event, OBJECT_EVENT) ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return set_allocation(node, &parameters->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return set_free(node, parameters->free.dptr);
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult graph_add(struct graph *graph, struct graph_nodes dependencies,
                   CUgraphNodeParams *parameters, struct graph_node **result)
{
    if (!graph_owns(graph, dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    struct graph_node *node = node_new(graph, dependencies, parameters->type);
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult code = node_describe(node, parameters);
    if (code) {
        node_delete(node);
        return code;
    }
    node_append(graph, node);
    graph->has_memory |= node->allocation || (node->child && node->child->has_memory);
    *result = node;
    return CUDA_SUCCESS;
}

/* --- copies --- */

/* The n-th node of the copy corresponds to the n-th node of the graph. */
static struct graph_node *twin_of(const struct graph *graph, const struct graph_node *node,
                                  const struct graph *copy)
{
    struct graph_node *twin = copy->first;
    for (const struct graph_node *other = graph->first; other != node; other = other->next)
        twin = twin->next;
    return twin;
}

/* Dependencies of the copy point to the original nodes until all nodes are copied. */
static CUresult copy_node(const struct graph_node *node, struct graph *copy)
{
    const struct graph_nodes dependencies = {node->dependencies, node->dependency_count};
    struct graph_node *twin = node_new(copy, dependencies, node->type);
    if (!twin)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node_append(copy, twin);
    twin->host = node->host;
    if (!node->child)
        return CUDA_SUCCESS;
    const CUresult result = graph_copy(node->child, &twin->child);
    if (!result)
        twin->child->is_child = true;
    return result;
}

CUresult graph_copy(const struct graph *graph, struct graph **result)
{
    if (graph->has_memory)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct graph *copy = graph_new();
    CUresult code = copy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (const struct graph_node *node = graph->first; node && !code; node = node->next)
        code = copy_node(node, copy);
    if (code && copy)
        graph_delete(copy);
    if (code)
        return code;
    for (struct graph_node *twin = copy->first; twin; twin = twin->next)
        for (size_t i = 0; i < twin->dependency_count; i++)
            twin->dependencies[i] = twin_of(graph, twin->dependencies[i], copy);
    *result = copy;
    return CUDA_SUCCESS;
}

/* --- order --- */

static bool is_ready(const struct graph_node *node, uint64_t stamp)
{
    for (size_t i = 0; i < node->dependency_count; i++)
        if (node->dependencies[i]->stamp != stamp)
            return false;
    return node->stamp != stamp;
}

static CUresult visit_node(struct graph_node *node, graph_visit *visit, void *data)
{
    return node->child ? graph_walk(node->child, visit, data) : visit(node, data);
}

/* One round usually visits all nodes, because most are added after their dependencies. If a round
 * visits none, there is a cycle. */
CUresult graph_walk(struct graph *graph, graph_visit *visit, void *data)
{
    const uint64_t stamp = graph_stamp();
    for (size_t left = graph->node_count; left;) {
        const size_t before = left;
        for (struct graph_node *node = graph->first; node; node = node->next) {
            if (!is_ready(node, stamp))
                continue;
            node->stamp = stamp;
            left--;
            const CUresult result = visit_node(node, visit, data);
            if (result)
                return result;
        }
        if (left == before)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
