/* SPDX-License-Identifier: MIT */
/*
 * API functions that create and build graphs (graph.h). Edge data is not simulated: input is
 * ignored, output is zero.
 */
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "graph.h"
#include "graph_exec.h"

static CUgraph handle_of(struct graph *graph)
{
    return (CUgraph)(void *)graph;
}

/* A node's handle is its address. */
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
        const struct graph *graph = graph_of(&call, original);
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
        struct graph *graph = graph_of(&call, handle);
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
        struct graph_node *node = graph_node_of(&call, handle);
        if (node &&
            call_requires(&call, !node->graph->has_memory && !node->graph->is_captured_into))
            graph_remove(node);
    }
    return call_end(&call);
}

/* --- adding nodes: all by one body that takes CUgraphNodeParams --- */

struct addition {
    CUgraphNode *handle;
    CUgraph graph;
    const CUgraphNode *dependencies;
    size_t dependency_count;
};

static CUresult node_add(const char *function, struct addition what, CUgraphNodeParams *parameters)
{
    struct call call;
    struct graph_node *node = NULL;
    if (call_begin(&call, function, CALL_NEEDS_INIT) &&
        call_requires(&call,
                      what.handle && parameters && (what.dependencies || !what.dependency_count))) {
        struct graph *graph = graph_of(&call, what.graph);
        if (graph)
            call.result = graph_add(graph, nodes_of(what.dependencies, what.dependency_count),
                                    parameters, &node);
        if (node)
            *what.handle = (CUgraphNode)(void *)node;
    }
    return call_end(&call);
}

#define ADDITION ((struct addition){node, graph, dependencies, dependency_count})

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t dependency_count, CUgraphNodeParams *parameters)
{
    return node_add(__func__, ADDITION, parameters);
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           GMT_UNUSED const CUgraphEdgeData *edges, size_t dependency_count,
                           CUgraphNodeParams *parameters)
{
    return node_add(__func__, ADDITION, parameters);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                             size_t dependency_count)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return node_add(__func__, ADDITION, &all);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t dependency_count, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    if (parameters)
        all.kernel = *parameters;
    return node_add(__func__, ADDITION, parameters ? &all : NULL);
}

/* The parameters of the first version are the first members of the second version's. */
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependency_count, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    if (parameters)
        memcpy(&all.kernel, parameters, sizeof *parameters);
    return node_add(__func__, ADDITION, parameters ? &all : NULL);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependency_count, const CUDA_MEMCPY3D *copy, CUcontext context)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    all.memcpy.copyCtx = context;
    if (copy)
        all.memcpy.copyParams = *copy;
    return node_add(__func__, ADDITION, copy ? &all : NULL);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependency_count, const CUDA_MEMSET_NODE_PARAMS *fill,
                              CUcontext context)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    if (fill)
        memcpy(&all.memset, fill, sizeof *fill);
    all.memset.ctx = context;
    return node_add(__func__, ADDITION, fill ? &all : NULL);
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                            size_t dependency_count, const CUDA_HOST_NODE_PARAMS *parameters)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_HOST};
    if (parameters)
        memcpy(&all.host, parameters, sizeof *parameters);
    return node_add(__func__, ADDITION, parameters ? &all : NULL);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t dependency_count, CUgraph child)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    all.graph.graph = child;
    return node_add(__func__, ADDITION, &all);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *dependencies, size_t dependency_count,
                                   CUevent event)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    all.eventRecord.event = event;
    return node_add(__func__, ADDITION, &all);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t dependency_count, CUevent event)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    all.eventWait.event = event;
    return node_add(__func__, ADDITION, &all);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t dependency_count, CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    if (parameters)
        memcpy(&all.alloc, parameters, sizeof *parameters);
    const CUresult result = node_add(__func__, ADDITION, parameters ? &all : NULL);
    if (!result)
        parameters->dptr = all.alloc.dptr;
    return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t dependency_count, CUdeviceptr address)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    all.free.dptr = address;
    return node_add(__func__, ADDITION, &all);
}
