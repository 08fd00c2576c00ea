/* SPDX-License-Identifier: MIT */
/*
 * Graphs, nodes and edges have the handles and flags of the driver. The parameters of nodes differ
 * from the driver's parameters only in names. If a function has different parameters in CUDA 12 and
 * 13, runtime_version() tells which version the caller was compiled for.
 */
#include <stdint.h>
#include <string.h>

#include "call.h"
#include "context.h"
#include "convert.h"
#include "only_here.h"
#include "registry.h"
#include "soname.h"

/* --- graphs --- */

GMT_EXPORT cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphCreate(graph, flags)));
}

GMT_EXPORT cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphClone(clone, graph)));
}

GMT_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphDestroy(graph)));
}

GMT_EXPORT cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphDestroyNode(node)));
}

/* --- nodes --- */

/* The graph and the dependencies of a new node. */
struct place {
    cudaGraphNode_t *node;
    cudaGraph_t graph;
    const cudaGraphNode_t *dependencies;
    size_t dependency_count;
};

#define PLACE ((struct place){node, graph, dependencies, dependency_count})

static cudaError_t node_add(struct place place, CUgraphNodeParams *parameters)
{
    return error_of_driver(call_driver()->cuGraphAddNode_v2(
        place.node, place.graph, place.dependencies, NULL, place.dependency_count, parameters));
}

/* Only the presence of access descriptors is passed on, because nodes do not keep them. */
static cudaError_t add_alloc(struct place place, struct cudaMemAllocNodeParams *parameters)
{
    static const CUmemAccessDesc unread;
    CUDA_MEM_ALLOC_NODE_PARAMS converted = {
        .poolProps = pool_properties_of(&parameters->poolProps),
        .accessDescs = parameters->accessDescs ? &unread : NULL,
        .accessDescCount = parameters->accessDescCount,
        .bytesize = parameters->bytesize,
    };
    const cudaError_t error = error_of_driver(call_driver()->cuGraphAddMemAllocNode(
        place.node, place.graph, place.dependencies, place.dependency_count, &converted));
    if (error == cudaSuccess)
        parameters->dptr = pointer_of(converted.dptr);
    return error;
}

GMT_EXPORT cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *dependencies,
                                                size_t dependency_count,
                                                struct cudaMemAllocNodeParams *parameters)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(parameters, add_alloc(PLACE, parameters)));
}

GMT_EXPORT cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *dependencies,
                                               size_t dependency_count, void *address)
{
    return CALL(NEEDS_DEVICES,
                error_of_driver(call_driver()->cuGraphAddMemFreeNode(
                    node, graph, dependencies, dependency_count, address_of(address))));
}

GMT_EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies,
                                             size_t dependency_count)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphAddEmptyNode(
                                   node, graph, dependencies, dependency_count)));
}

static cudaError_t add_host(struct place place, cudaHostFn_t function, void *user_data)
{
    const CUDA_HOST_NODE_PARAMS converted = {function, user_data};
    return error_of_driver(call_driver()->cuGraphAddHostNode(
        place.node, place.graph, place.dependencies, place.dependency_count, &converted));
}

GMT_EXPORT cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                            const cudaGraphNode_t *dependencies,
                                            size_t dependency_count,
                                            const struct cudaHostNodeParams *parameters)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(parameters, add_host(PLACE, parameters->fn,
                                                                     parameters->userData)));
}

/* If the kernel is not registered, adds a kernel node that does nothing. */
static cudaError_t add_kernel(struct place place, const void *kernel, dim3 grid, dim3 block)
{
    CUgraphNodeParams converted = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    const CUfunction function = registry_kernel(kernel);
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)
        return cudaErrorInvalidConfiguration;
    if (function) {
        converted.type = CU_GRAPH_NODE_TYPE_KERNEL;
        converted.kernel = (CUDA_KERNEL_NODE_PARAMS){
            .func = function,
            .gridDimX = grid.x,
            .gridDimY = grid.y,
            .gridDimZ = grid.z,
            .blockDimX = block.x,
            .blockDimY = block.y,
            .blockDimZ = block.z,
        };
    }
    return node_add(place, &converted);
}

GMT_EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *dependencies,
                                              size_t dependency_count,
                                              const struct cudaKernelNodeParams *parameters)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(parameters, add_kernel(PLACE, parameters->func,
                                                                       parameters->gridDim,
                                                                       parameters->blockDim)));
}

/* The driver's functions for copy and fill nodes need a context. */
static cudaError_t current_context(CUcontext *context)
{
    return error_of_driver(call_driver()->cuCtxGetCurrent(context));
}

static CUDA_MEMCPY3D copy_of(const struct cudaMemcpy3DParms *copy)
{
    return (CUDA_MEMCPY3D){
        .srcMemoryType = copy->srcArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
        .srcDevice = address_of(copy->srcPtr.ptr),
        .srcArray = (CUarray)copy->srcArray,
        .srcPitch = copy->srcPtr.pitch,
        .srcHeight = copy->srcPtr.ysize,
        .dstMemoryType = copy->dstArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
        .dstDevice = address_of(copy->dstPtr.ptr),
        .dstArray = (CUarray)copy->dstArray,
        .dstPitch = copy->dstPtr.pitch,
        .dstHeight = copy->dstPtr.ysize,
        .WidthInBytes = copy->extent.width,
        .Height = copy->extent.height,
        .Depth = copy->extent.depth,
    };
}

static cudaError_t add_copy(struct place place, const struct cudaMemcpy3DParms *copy)
{
    const CUDA_MEMCPY3D converted = copy_of(copy);
    CUcontext context = NULL;
    if ((int)copy->kind < cudaMemcpyHostToHost || copy->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    const cudaError_t error = current_context(&context);
    return error ? error
                 : error_of_driver(call_driver()->cuGraphAddMemcpyNode(
                       place.node, place.graph, place.dependencies, place.dependency_count,
                       &converted, context));
}

GMT_EXPORT cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *dependencies,
                                              size_t dependency_count,
                                              const struct cudaMemcpy3DParms *copy)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(copy, add_copy(PLACE, copy)));
}

GMT_EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *dependencies,
                                                size_t dependency_count, void *to, const void *from,
                                                size_t size_bytes, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms row = {
        .srcPtr = {(void *)(uintptr_t)from, size_bytes, size_bytes, 1},
        .dstPtr = {to, size_bytes, size_bytes, 1},
        .extent = {size_bytes, 1, 1},
        .kind = kind,
    };
    return CALL(NEEDS_CONTEXT, add_copy(PLACE, &row));
}

static cudaError_t add_fill(struct place place, const struct cudaMemsetParamsV2 *fill)
{
    const CUDA_MEMSET_NODE_PARAMS converted = {address_of(fill->dst), fill->pitch, fill->value,
                                               fill->elementSize,     fill->width, fill->height};
    CUcontext context = NULL;
    const cudaError_t error = current_context(&context);
    return error ? error
                 : error_of_driver(call_driver()->cuGraphAddMemsetNode(
                       place.node, place.graph, place.dependencies, place.dependency_count,
                       &converted, context));
}

_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(struct cudaMemsetParamsV2),
               "one is the other's bytes");

GMT_EXPORT cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *dependencies,
                                              size_t dependency_count,
                                              const struct cudaMemsetParams *fill)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(fill, add_fill(PLACE, (const void *)fill)));
}

GMT_EXPORT cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *dependencies,
                                                  size_t dependency_count, cudaGraph_t child)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphAddChildGraphNode(
                                   node, graph, dependencies, dependency_count, child)));
}

GMT_EXPORT cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                   const cudaGraphNode_t *dependencies,
                                                   size_t dependency_count, cudaEvent_t event)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphAddEventRecordNode(
                                   node, graph, dependencies, dependency_count, event)));
}

GMT_EXPORT cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *dependencies,
                                                 size_t dependency_count, cudaEvent_t event)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphAddEventWaitNode(
                                   node, graph, dependencies, dependency_count, event)));
}

/* --- any node --- */

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(struct cudaMemAllocNodeParamsV2),
               "one is the other's bytes");

static cudaError_t add_child(struct place place, const struct cudaChildGraphNodeParams *child)
{
    CUgraphNodeParams converted = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    converted.graph = (CUDA_CHILD_GRAPH_NODE_PARAMS){
        child->graph, (CUgraphChildGraphNodeOwnership)child->ownership};
    return node_add(place, &converted);
}

/* Adds a node that has no parameters, or a node whose parameter (an event or an address) is the
 * same for the driver. */
static cudaError_t add_same(struct place place, const struct cudaGraphNodeParams *parameters)
{
    CUgraphNodeParams converted = {.type = (CUgraphNodeType)parameters->type};
    memcpy(converted.reserved1, parameters->reserved1, sizeof converted.reserved1);
    return node_add(place, &converted);
}

static cudaError_t add_any(struct place place, struct cudaGraphNodeParams *parameters)
{
    switch (parameters->type) {
    case cudaGraphNodeTypeMemAlloc:
        return add_alloc(place, (void *)&parameters->alloc);
    case cudaGraphNodeTypeKernel:
        return add_kernel(place, parameters->kernel.func, parameters->kernel.gridDim,
                          parameters->kernel.blockDim);
    case cudaGraphNodeTypeMemcpy:
        return add_copy(place, &parameters->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return add_fill(place, &parameters->memset);
    case cudaGraphNodeTypeHost:
        return add_host(place, parameters->host.fn, parameters->host.userData);
    case cudaGraphNodeTypeGraph:
        return add_child(place, &parameters->graph);
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent:
        return add_same(place, parameters);
    default:
        return cudaErrorNotSupported;
    }
}

GMT_EXPORT cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies,
                                           GMT_UNUSED const cudaGraphEdgeData *edges,
                                           size_t dependency_count,
                                           struct cudaGraphNodeParams *parameters)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(parameters, add_any(PLACE, parameters)));
}

/* In CUDA 13 this function takes edge data, as cudaGraphAddNode_v2 does in CUDA 12. */
GMT_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *dependencies, uintptr_t fourth,
                                        uintptr_t fifth, struct cudaGraphNodeParams *sixth)
{
    const bool has_edges = runtime_version() >= 13000;
    const size_t dependency_count = has_edges ? fifth : fourth;
    struct cudaGraphNodeParams *parameters = has_edges ? sixth : (void *)fifth;
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(parameters, add_any(PLACE, parameters)));
}

/* --- queries of graphs --- */

static cudaError_t get_alloc(cudaGraphNode_t node, struct cudaMemAllocNodeParams *parameters)
{
    CUDA_MEM_ALLOC_NODE_PARAMS answer;
    const cudaError_t error =
        error_of_driver(call_driver()->cuGraphMemAllocNodeGetParams(node, &answer));
    if (error)
        return error;
    *parameters = (struct cudaMemAllocNodeParams){
        .poolProps.allocType = (enum cudaMemAllocationType)answer.poolProps.allocType,
        .poolProps.location = {(enum cudaMemLocationType)answer.poolProps.location.type,
                               answer.poolProps.location.id},
        .bytesize = answer.bytesize,
        .dptr = pointer_of(answer.dptr),
    };
    return cudaSuccess;
}

GMT_EXPORT cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                      struct cudaMemAllocNodeParams *parameters)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(parameters, get_alloc(node, parameters)));
}

/* Stores the node's address in *address. */
GMT_EXPORT cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *address)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphMemFreeNodeGetParams(
                                   node, (CUdeviceptr *)address)));
}

static cudaError_t get_type(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    CUgraphNodeType answer;
    const cudaError_t error = error_of_driver(call_driver()->cuGraphNodeGetType(node, &answer));
    if (error == cudaSuccess)
        *type = (enum cudaGraphNodeType)answer;
    return error;
}

GMT_EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(type, get_type(node, type)));
}

GMT_EXPORT cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    return CALL(NEEDS_DEVICES,
                error_of_driver(call_driver()->cuGraphChildGraphNodeGetGraph(node, graph)));
}

GMT_EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return CALL(NEEDS_DEVICES,
                error_of_driver(call_driver()->cuGraphGetNodes(graph, nodes, count)));
}

GMT_EXPORT cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                             size_t *count)
{
    return CALL(NEEDS_DEVICES,
                error_of_driver(call_driver()->cuGraphGetRootNodes(graph, nodes, count)));
}
