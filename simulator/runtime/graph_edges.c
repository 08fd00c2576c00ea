/* SPDX-License-Identifier: MIT */
/*
 * Edges of graphs. In CUDA 13 these functions take edge data before the last parameter, as their
 * _v2 versions do in CUDA 12.
 */
#include <stdbool.h>

#include "call.h"
#include "only_here.h"
#include "soname.h"

static bool has_data(void)
{
    return runtime_version() >= 13000;
}

/* --- changes; edge data is ignored --- */

static cudaError_t edges_add(cudaGraph_t graph, const cudaGraphNode_t *from,
                             const cudaGraphNode_t *to, size_t count)
{
    return error_of_driver(call_driver()->cuGraphAddDependencies_v2(graph, from, to, NULL, count));
}

static cudaError_t edges_remove(cudaGraph_t graph, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to, size_t count)
{
    return error_of_driver(
        call_driver()->cuGraphRemoveDependencies_v2(graph, from, to, NULL, count));
}

GMT_EXPORT cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to, uintptr_t fourth,
                                                size_t fifth)
{
    return CALL(NEEDS_DEVICES, edges_add(graph, from, to, has_data() ? fifth : fourth));
}

GMT_EXPORT cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to,
                                                   GMT_UNUSED const cudaGraphEdgeData *data,
                                                   size_t count)
{
    return CALL(NEEDS_DEVICES, edges_add(graph, from, to, count));
}

GMT_EXPORT cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, uintptr_t fourth,
                                                   size_t fifth)
{
    return CALL(NEEDS_DEVICES, edges_remove(graph, from, to, has_data() ? fifth : fourth));
}

GMT_EXPORT cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph,
                                                      const cudaGraphNode_t *from,
                                                      const cudaGraphNode_t *to,
                                                      GMT_UNUSED const cudaGraphEdgeData *data,
                                                      size_t count)
{
    return CALL(NEEDS_DEVICES, edges_remove(graph, from, to, count));
}

/* --- queries --- */

_Static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData), "one is the other's bytes");

static cudaError_t edges_list(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              void *data, size_t *count)
{
    return error_of_driver(call_driver()->cuGraphGetEdges_v2(graph, from, to, data, count));
}

GMT_EXPORT cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                         cudaGraphNode_t *to, void *fourth, size_t *fifth)
{
    return CALL(NEEDS_DEVICES, has_data() ? edges_list(graph, from, to, fourth, fifth)
                                          : edges_list(graph, from, to, NULL, fourth));
}

GMT_EXPORT cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from,
                                            cudaGraphNode_t *to, cudaGraphEdgeData *data,
                                            size_t *count)
{
    return CALL(NEEDS_DEVICES, edges_list(graph, from, to, data, count));
}

/* Lists a node's dependencies or its dependents. */
typedef CUresult list_neighbours(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data,
                                 size_t *count);

static cudaError_t neighbours_list(list_neighbours *function, cudaGraphNode_t node,
                                   cudaGraphNode_t *nodes, void *third, size_t *fourth)
{
    return error_of_driver(has_data() ? function(node, nodes, third, fourth)
                                      : function(node, nodes, NULL, third));
}

GMT_EXPORT cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                    void *third, size_t *fourth)
{
    return CALL(NEEDS_DEVICES, neighbours_list(call_driver()->cuGraphNodeGetDependencies_v2, node,
                                               nodes, third, fourth));
}

GMT_EXPORT cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                      void *third, size_t *fourth)
{
    return CALL(NEEDS_DEVICES, neighbours_list(call_driver()->cuGraphNodeGetDependentNodes_v2, node,
                                               nodes, third, fourth));
}
