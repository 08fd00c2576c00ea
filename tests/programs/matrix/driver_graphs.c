/* SPDX-License-Identifier: MIT */
/*
 * Families of the driver: memory nodes of graphs. An allocation node has only addresses. After a
 * launch, the memory that graphs use of the device's graph pool is one object until the executable
 * graph is destroyed.
 */
#include "matrix.h"

#define NODE_BYTES (6 * MIB)

static const CUmemPoolProps in_pool = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};

static uint64_t pool_bytes(CUgraphMem_attribute which)
{
    cuuint64_t bytes = 0;
    DRIVER(cuDeviceGetGraphMemAttribute, (0, which, &bytes));
    return bytes;
}

/* Books the event of a launch, which has the memory that the graph uses and the pool's size. */
static uint64_t book_launch(void)
{
    const uint64_t used_bytes = pool_bytes(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
    const uint64_t reserved_bytes = pool_bytes(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    family_needs(used_bytes >= NODE_BYTES, "the graph uses less than its node");
    family_last_called("cuGraphLaunch");
    book_take(MEMORY_GRAPH, used_bytes);
    book_event(EVENT_POOL_USAGE, MEMORY_GRAPH, used_bytes, reserved_bytes, 0);
    return used_bytes;
}

/* The second launch takes no more memory. */
static uint64_t launch_twice(CUgraphExec executable)
{
    DRIVER(cuGraphLaunch, (executable, NULL));
    DRIVER(cuStreamSynchronize, (NULL));
    const uint64_t bytes = book_launch();
    DRIVER(cuGraphLaunch, (executable, NULL));
    DRIVER(cuStreamSynchronize, (NULL));
    return bytes;
}

static void destroy_and_trim(CUgraphExec executable, CUgraph graph, uint64_t bytes)
{
    DRIVER(cuGraphExecDestroy, (executable));
    book_event(EVENT_GRAPH_DESTROY, MEMORY_NONE, 0, 0, bits(executable));
    book_end(MEMORY_GRAPH, bytes);
    DRIVER(cuGraphDestroy, (graph));
    book_event(EVENT_GRAPH_DESTROY, MEMORY_NONE, 0, 0, bits(graph));
    DRIVER(cuDeviceGraphMemTrim, (0));
    book_event(EVENT_POOL_USAGE, MEMORY_GRAPH, 0, 0, 0);
}

static CUgraphExec make(CUgraph graph)
{
    CUgraphExec executable = NULL;
    DRIVER(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    book_event(EVENT_GRAPH_MADE, MEMORY_NONE, bits(graph), 0, bits(executable));
    return executable;
}

static void run(CUgraph graph)
{
    const CUgraphExec executable = make(graph);
    destroy_and_trim(executable, graph, launch_twice(executable));
}

void driver_graph(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {.poolProps = in_pool, .bytesize = NODE_BYTES};
    CUgraphNode first = NULL, second = NULL;
    CUgraph graph = NULL;
    DRIVER(cuGraphCreate, (&graph, 0));
    DRIVER(cuGraphAddMemAllocNode, (&first, graph, NULL, 0, &memory));
    book_alloc(MEMORY_GRAPH_NODE, memory.dptr, NODE_BYTES);
    DRIVER(cuGraphAddMemFreeNode, (&second, graph, &first, 1, memory.dptr));
    book_free(MEMORY_GRAPH_NODE, memory.dptr, NODE_BYTES);
    run(graph);
}

void driver_graph_nodes(void)
{
    CUgraphNodeParams memory = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                                .alloc = {.poolProps = in_pool, .bytesize = NODE_BYTES}};
    CUgraphNodeParams end = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    CUgraphNode first = NULL, second = NULL;
    CUgraph graph = NULL;
    DRIVER(cuGraphCreate, (&graph, 0));
    DRIVER(cuGraphAddNode_v2, (&first, graph, NULL, NULL, 0, &memory));
    book_alloc(MEMORY_GRAPH_NODE, memory.alloc.dptr, NODE_BYTES);
    end.free.dptr = memory.alloc.dptr;
    DRIVER(cuGraphAddNode_v2, (&second, graph, &first, NULL, 1, &end));
    book_free(MEMORY_GRAPH_NODE, memory.alloc.dptr, NODE_BYTES);
    run(graph);
}

/* The program frees memory that the graph leaves allocated, as it frees any memory. */
void driver_graph_outside(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {.poolProps = in_pool, .bytesize = NODE_BYTES};
    CUgraphNode node = NULL;
    CUgraph graph = NULL;
    DRIVER(cuGraphCreate, (&graph, 0));
    DRIVER(cuGraphAddMemAllocNode, (&node, graph, NULL, 0, &memory));
    book_alloc(MEMORY_GRAPH_NODE, memory.dptr, NODE_BYTES);
    const CUgraphExec executable = make(graph);
    DRIVER(cuGraphLaunch, (executable, NULL));
    DRIVER(cuStreamSynchronize, (NULL));
    const uint64_t bytes = book_launch();
    DRIVER(cuMemFreeAsync, (memory.dptr, NULL));
    book_free(MEMORY_GRAPH_NODE, memory.dptr, NODE_BYTES);
    DRIVER(cuStreamSynchronize, (NULL));
    destroy_and_trim(executable, graph, bytes);
}

/* In a captured stream an allocation becomes a node. The capture has just begun. */
static void take_in(CUstream stream)
{
    book_event(EVENT_CAPTURE_BEGIN, MEMORY_NONE, 0, 0, 0);
    CUdeviceptr address = 0;
    DRIVER(cuMemAllocAsync, (&address, NODE_BYTES, stream));
    book_alloc(MEMORY_GRAPH_NODE, address, NODE_BYTES);
    DRIVER(cuMemFreeAsync, (address, stream));
    book_free(MEMORY_GRAPH_NODE, address, NODE_BYTES);
}

static CUgraph end_capture(CUstream stream)
{
    CUgraph graph = NULL;
    DRIVER(cuStreamEndCapture, (stream, &graph));
    book_event(EVENT_CAPTURE_END, MEMORY_NONE, 0, 0, bits(graph));
    DRIVER(cuStreamDestroy_v2, (stream));
    return graph;
}

static CUstream new_stream(void)
{
    CUstream stream = NULL;
    DRIVER(cuStreamCreate, (&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

void driver_captured(void)
{
    const CUstream stream = new_stream();
    DRIVER(cuStreamBeginCapture_v2, (stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    take_in(stream);
    run(end_capture(stream));
}

void driver_captured_to_graph(void)
{
    const CUstream stream = new_stream();
    CUgraph graph = NULL;
    DRIVER(cuGraphCreate, (&graph, 0));
    DRIVER(cuStreamBeginCaptureToGraph,
           (stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    take_in(stream);
    run(end_capture(stream));
}

/* Does the same as driver_captured, with earlier forms of the functions. */
void driver_captured_v1(void)
{
    const CUstream stream = new_stream();
    CUgraphExec executable = NULL;
    DRIVER(cuStreamBeginCapture, (stream));
    take_in(stream);
    const CUgraph graph = end_capture(stream);
    DRIVER(cuGraphInstantiate_v2, (&executable, graph, NULL, NULL, 0));
    book_event(EVENT_GRAPH_MADE, MEMORY_NONE, bits(graph), 0, bits(executable));
    destroy_and_trim(executable, graph, launch_twice(executable));
}

void driver_graph_nodes_v1(void)
{
    CUgraphNodeParams memory = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                                .alloc = {.poolProps = in_pool, .bytesize = NODE_BYTES}};
    CUgraphNodeParams end = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    CUgraphNode first = NULL, second = NULL;
    CUgraph graph = NULL;
    DRIVER(cuGraphCreate, (&graph, 0));
    DRIVER(cuGraphAddNode, (&first, graph, NULL, 0, &memory));
    book_alloc(MEMORY_GRAPH_NODE, memory.alloc.dptr, NODE_BYTES);
    end.free.dptr = memory.alloc.dptr;
    DRIVER(cuGraphAddNode, (&second, graph, &first, 1, &end));
    book_free(MEMORY_GRAPH_NODE, memory.alloc.dptr, NODE_BYTES);
    run(graph);
}
