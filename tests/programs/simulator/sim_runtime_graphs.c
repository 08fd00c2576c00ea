/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Tests graphs and captures of the simulated runtime. The argument names a case. Exits 0, or prints
 * a line with the failed check. The numbers of sections are those of the CUDA Runtime API.
 */
#include "sim_runtime.h"

#ifndef RUNTIME
#define RUNTIME 13
#endif

/* The parameters of these functions depend on the runtime, so no header declares them. */
#if RUNTIME == 13
#define EDGES NULL,
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
                             size_t dependency_count, struct cudaGraphNodeParams *parameters);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *count);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                const cudaGraphEdgeData *edges, size_t count,
                                                unsigned int flags);
#else
#define EDGES
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *dependencies, size_t dependency_count,
                             struct cudaGraphNodeParams *parameters);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                size_t count, unsigned int flags);
#endif

#if RUNTIME == 13
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                     size_t count);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *data, size_t *count);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         cudaGraphEdgeData *data, size_t *count);
#else
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, size_t count);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              size_t *count);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         size_t *count);
#endif

static struct cudaMemPoolProps on_device(void)
{
    return (struct cudaMemPoolProps){.allocType = cudaMemAllocationTypePinned,
                                     .location = {cudaMemLocationTypeDevice, 0}};
}

static uint64_t graph_memory(enum cudaGraphMemAttributeType attribute)
{
    uint64_t value = UINT64_MAX;
    SUCCEEDS(cudaDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}

static void expect_memory(uint64_t used_bytes, uint64_t reserved_bytes)
{
    CHECK(graph_memory(cudaGraphMemAttrUsedMemCurrent) == used_bytes);
    CHECK(graph_memory(cudaGraphMemAttrReservedMemCurrent) == reserved_bytes);
}

/* 6.30 Graph Management, cudaGraphAddMemAllocNode, cudaGraphLaunch, cudaDeviceGraphMemTrim. */
CASE(an_allocation_node_takes_memory_when_it_runs)
{
    struct cudaMemAllocNodeParams parameters = {.poolProps = on_device(), .bytesize = 6 * MIB};
    struct cudaMemAllocNodeParams told;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    GIVES(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, NULL), cudaErrorInvalidValue);
    SUCCEEDS(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &parameters));
    CHECK(parameters.dptr != NULL);
    SUCCEEDS(cudaGraphMemAllocNodeGetParams(node, &told));
    CHECK(told.dptr == parameters.dptr && told.bytesize == 6 * MIB);
    SUCCEEDS(cudaGraphInstantiate(&exec, graph, 0));
    const size_t before_bytes = free_bytes_now();
    SUCCEEDS(cudaGraphLaunch(exec, 0));
    CHECK(before_bytes - free_bytes_now() == 6 * MIB);
    expect_memory(6 * MIB, 6 * MIB);
    GIVES(cudaGraphLaunch(exec, 0), cudaErrorInvalidValue);
    SUCCEEDS(cudaFree(parameters.dptr));
    GIVES(cudaFree(parameters.dptr), cudaErrorInvalidValue);
    SUCCEEDS(cudaDeviceGraphMemTrim(0));
    CHECK(free_bytes_now() == before_bytes);
    SUCCEEDS(cudaGraphExecDestroy(exec));
    SUCCEEDS(cudaGraphDestroy(graph));
}

/* 6.30, cudaGraphAddMemFreeNode; cudaGraphInstantiateWithParams, cudaGraphUpload. */
CASE(a_free_node_ends_it_in_the_graph)
{
    struct cudaMemAllocNodeParams parameters = {.poolProps = on_device(), .bytesize = 2 * MIB};
    cudaGraphInstantiateParams instantiation = {.flags = cudaGraphInstantiateFlagAutoFreeOnLaunch};
    cudaGraphNode_t first, second;
    cudaGraphExec_t exec;
    cudaGraph_t graph, clone;
    void *told = NULL;
    unsigned long long flags = 0;
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    SUCCEEDS(cudaGraphAddMemAllocNode(&first, graph, NULL, 0, &parameters));
    SUCCEEDS(cudaGraphAddMemFreeNode(&second, graph, &first, 1, parameters.dptr));
    SUCCEEDS(cudaGraphMemFreeNodeGetParams(second, &told));
    CHECK(told == parameters.dptr);
    GIVES(cudaGraphClone(&clone, graph), cudaErrorNotSupported);
    SUCCEEDS(cudaGraphInstantiateWithParams(&exec, graph, &instantiation));
    CHECK(instantiation.result_out == cudaGraphInstantiateSuccess);
    SUCCEEDS(cudaGraphExecGetFlags(exec, &flags));
    CHECK(flags == cudaGraphInstantiateFlagAutoFreeOnLaunch);
    SUCCEEDS(cudaGraphUpload_ptsz(exec, 0));
    expect_memory(2 * MIB, 2 * MIB);
    SUCCEEDS(cudaGraphLaunch(exec, 0));
    SUCCEEDS(cudaGraphLaunch_ptsz(exec, 0));
    GIVES(cudaFree(parameters.dptr), cudaErrorInvalidValue);
}

/* 6.30, cudaGraphAddNode: every kind of node, with edge data since CUDA 13. */
CASE(a_node_of_any_kind_is_added_by_one_function)
{
    static char here[16];
    struct cudaGraphNodeParams parameters = {.type = cudaGraphNodeTypeMemAlloc};
    enum cudaGraphNodeType type;
    cudaGraphNode_t nodes[5];
    cudaGraph_t graph;
    void *address;
    size_t count = 0;
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    parameters.alloc.poolProps = on_device();
    parameters.alloc.bytesize = MIB;
    SUCCEEDS(cudaGraphAddNode(&nodes[0], graph, NULL, EDGES 0, &parameters));
    address = parameters.alloc.dptr;
    CHECK(address != NULL);
    parameters = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeMemset};
    parameters.memset = (struct cudaMemsetParamsV2){address, 0, 1, 1, 16, 1};
    SUCCEEDS(cudaGraphAddNode(&nodes[1], graph, nodes, EDGES 1, &parameters));
    parameters = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeKernel};
    parameters.kernel.func = here;
    GIVES(cudaGraphAddNode(&nodes[2], graph, nodes, EDGES 1, &parameters),
          cudaErrorInvalidConfiguration);
    parameters.kernel.gridDim = parameters.kernel.blockDim = (dim3){1, 1, 1};
    SUCCEEDS(cudaGraphAddNode(&nodes[2], graph, nodes, EDGES 1, &parameters));
    SUCCEEDS(cudaGraphAddMemcpyNode1D(&nodes[3], graph, nodes, 1, here, address, 16,
                                      cudaMemcpyDeviceToHost));
    parameters = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeMemFree};
    parameters.free.dptr = address;
    SUCCEEDS(cudaGraphAddNode(&nodes[4], graph, nodes, EDGES 4, &parameters));
    SUCCEEDS(cudaGraphNodeGetType(nodes[4], &type));
    CHECK(type == cudaGraphNodeTypeMemFree);
    SUCCEEDS(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 5);
}

/* 6.4 Stream Management, cudaStreamBeginCapture, cudaStreamEndCapture; 6.12 Stream Ordered
   Memory Allocator, cudaMallocAsync: during a capture, this function adds a node. */
CASE(a_captured_allocation_is_a_node)
{
    enum cudaStreamCaptureStatus status;
    cudaStream_t stream;
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    void *block, *plain;
    size_t count = 0;
    SUCCEEDS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const size_t before_bytes = free_bytes_now();
    SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    SUCCEEDS(cudaMallocAsync(&block, 4 * MIB, stream));
    SUCCEEDS(cudaMemsetAsync(block, 0, MIB, stream));
    SUCCEEDS(cudaFreeAsync(block, stream));
    SUCCEEDS(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    SUCCEEDS(cudaStreamEndCapture(stream, &graph));
    SUCCEEDS(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 3 && free_bytes_now() == before_bytes);
    SUCCEEDS(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    SUCCEEDS(cudaGraphLaunch(exec, stream));
    CHECK(before_bytes - free_bytes_now() == 4 * MIB);
    SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    GIVES(cudaMalloc(&plain, MIB), cudaErrorStreamCaptureUnsupported);
    GIVES(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK(graph == NULL);
}

/* 6.4, cudaStreamGetCaptureInfo, cudaStreamUpdateCaptureDependencies: with edge data since CUDA
 * 13. */
CASE(a_capture_tells_what_its_runtime_s_functions_ask)
{
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    cudaStream_t stream;
    cudaGraphNode_t node;
    cudaGraph_t graph;
    void *block;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    SUCCEEDS(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    SUCCEEDS(
        cudaStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1, cudaStreamCaptureModeRelaxed));
#if RUNTIME == 13
    const cudaGraphNode_t *dependencies = NULL;
    cudaGraph_t told = NULL;
    size_t count = 0;
    SUCCEEDS(cudaStreamGetCaptureInfo(stream, &status, &id, &told, &dependencies, NULL, &count));
    CHECK(told == graph && count == 1 && dependencies[0] == node);
#else
    SUCCEEDS(cudaStreamGetCaptureInfo(stream, &status, &id));
#endif
    CHECK(status == cudaStreamCaptureStatusActive && id != 0);
    SUCCEEDS(cudaStreamUpdateCaptureDependencies(stream, NULL, EDGES 0,
                                                 cudaStreamSetCaptureDependencies));
    SUCCEEDS(cudaMallocAsync(&block, MIB, stream));
    SUCCEEDS(cudaStreamEndCapture(stream, &graph));
    size_t root_count = 0;
    SUCCEEDS(cudaGraphGetRootNodes(graph, NULL, &root_count));
    CHECK(root_count == 2);
}

/* 6.30, cudaGraphAddDependencies, cudaGraphGetEdges: with edge data since CUDA 13. */
CASE(edges_are_added_and_listed_as_the_runtime_s_functions_say)
{
    cudaGraphNode_t first, last, from = NULL, to = NULL;
    cudaGraph_t graph;
    size_t count = 1;
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    SUCCEEDS(cudaGraphAddEmptyNode(&first, graph, NULL, 0));
    SUCCEEDS(cudaGraphAddEmptyNode(&last, graph, NULL, 0));
    SUCCEEDS(cudaGraphAddDependencies(graph, &first, &last, EDGES 1));
    SUCCEEDS(cudaGraphGetEdges(graph, &from, &to, EDGES & count));
    CHECK(count == 1 && from == first && to == last);
    SUCCEEDS(cudaGraphNodeGetDependencies(last, NULL, EDGES & count));
    CHECK(count == 1);
}

SIM_MAIN()
