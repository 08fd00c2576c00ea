/* SPDX-License-Identifier: MIT */
/* Families of the runtime: memory nodes of graphs; see driver_graphs.c. */
#include "matrix.h"

#define NODE_BYTES (6 * MIB)

static void run(cudaGraph_t graph)
{
    cudaGraphExec_t executable = NULL;
    uint64_t used_bytes = 0, bytes = 0;
    RUNTIME(cudaGraphInstantiateWithFlags, (&executable, graph, 0));
    RUNTIME(cudaGraphLaunch, (executable, NULL));
    RUNTIME(cudaStreamSynchronize, (NULL));
    RUNTIME(cudaDeviceGetGraphMemAttribute, (0, cudaGraphMemAttrReservedMemCurrent, &bytes));
    RUNTIME(cudaDeviceGetGraphMemAttribute, (0, cudaGraphMemAttrUsedMemCurrent, &used_bytes));
    family_needs(used_bytes >= NODE_BYTES, "the graph uses less than its node");
    family_last_called("cudaGraphLaunch");
    book_take(MEMORY_GRAPH, used_bytes);
    book_event(EVENT_POOL_USAGE, MEMORY_GRAPH, used_bytes, bytes, 0);
    RUNTIME(cudaGraphLaunch, (executable, NULL));
    RUNTIME(cudaStreamSynchronize, (NULL));
    RUNTIME(cudaGraphExecDestroy, (executable));
    book_end(MEMORY_GRAPH, used_bytes);
    RUNTIME(cudaGraphDestroy, (graph));
    RUNTIME(cudaDeviceGraphMemTrim, (0));
    book_event(EVENT_POOL_USAGE, MEMORY_GRAPH, 0, 0, 0);
}

void runtime_graph(void)
{
    struct cudaMemAllocNodeParams memory = {
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice, .id = 0}},
        .bytesize = NODE_BYTES};
    cudaGraphNode_t first = NULL, second = NULL;
    cudaGraph_t graph = NULL;
    RUNTIME(cudaGraphCreate, (&graph, 0));
    RUNTIME(cudaGraphAddMemAllocNode, (&first, graph, NULL, 0, &memory));
    book_alloc(MEMORY_GRAPH_NODE, bits(memory.dptr), NODE_BYTES);
    RUNTIME(cudaGraphAddMemFreeNode, (&second, graph, &first, 1, memory.dptr));
    book_free(MEMORY_GRAPH_NODE, bits(memory.dptr), NODE_BYTES);
    run(graph);
}

void runtime_captured(void)
{
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    void *address = NULL;
    RUNTIME(cudaStreamCreateWithFlags, (&stream, cudaStreamNonBlocking));
    RUNTIME(cudaStreamBeginCapture, (stream, cudaStreamCaptureModeGlobal));
    RUNTIME(cudaMallocAsync, (&address, NODE_BYTES, stream));
    book_alloc(MEMORY_GRAPH_NODE, bits(address), NODE_BYTES);
    RUNTIME(cudaFreeAsync, (address, stream));
    book_free(MEMORY_GRAPH_NODE, bits(address), NODE_BYTES);
    RUNTIME(cudaStreamEndCapture, (stream, &graph));
    RUNTIME(cudaStreamDestroy, (stream));
    run(graph);
}
