/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests stream capture on the simulated driver: work that becomes nodes, calls that are refused,
 * and the end of a capture. The numbers of sections are those of the CUDA Driver API.
 */
#include <pthread.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "sim_device.h"

static CUstream stream;

static void begin(void)
{
    begin_cuda();
    EXPECT(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
}

static size_t node_count(CUgraph graph)
{
    size_t count = 0;
    EXPECT(cuGraphGetNodes(graph, NULL, &count), 0);
    return count;
}

static CUstreamCaptureStatus status_of(CUstream which)
{
    CUstreamCaptureStatus status;
    EXPECT(cuStreamIsCapturing(which, &status), 0);
    return status;
}

static void expect_types(CUgraph graph, const CUgraphNodeType *types, size_t count)
{
    CUgraphNode nodes[8];
    CUgraphNodeType type;
    size_t listed = 8;
    EXPECT(cuGraphGetNodes(graph, nodes, &listed), 0);
    EXPECT(listed, count);
    for (size_t i = 0; i < count; i++) {
        EXPECT(cuGraphNodeGetType(nodes[i], &type), 0);
        EXPECT(type, types[i]);
    }
}

/* 6.15 Stream Ordered Memory Allocator, cuMemAllocAsync and cuMemFreeAsync: during a capture,
   both functions add nodes. 6.24 Graph Management: memory nodes take memory when the graph is
   launched. */
PART(stream_ordered_memory_becomes_nodes)
{
    static const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEMSET,
                                            CU_GRAPH_NODE_TYPE_MEM_FREE};
    CUdeviceptr kept, piece;
    CUgraph graph;
    CUgraphExec exec;
    CUmemoryPool pool;
    cuuint64_t used = 1;
    begin();
    const size_t before = free_bytes();
    EXPECT(cuMemAllocAsync(&kept, MIB, stream), 0);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
    EXPECT(cuMemAllocAsync(&piece, 4 * MIB, stream), 0);
    EXPECT(cuMemsetD8Async(piece, 0, 4 * MIB, stream), 0);
    EXPECT(cuMemFreeAsync(piece, stream), 0);
    EXPECT(cuStreamEndCapture(stream, &graph), 0);
    expect_types(graph, types, 3);
    EXPECT(free_bytes(), before - 32 * MIB); /* reserved by the pool for the earlier allocation */
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(free_bytes(), before - 36 * MIB);
    EXPECT(cuDeviceGetDefaultMemPool(&pool, 0), 0);
    EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), 0);
    EXPECT(used, MIB);
    EXPECT(cuMemFreeAsync(kept, stream), 0);
}

/* 6.15, cuMemFreeAsync: in a capture, the address must be that of a graph allocation. */
PART(a_capture_frees_graphs_memory_only)
{
    CUdeviceptr piece;
    CUgraph graph = (CUgraph)&piece;
    begin();
    EXPECT(cuMemAllocAsync(&piece, MIB, stream), 0);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    EXPECT(cuMemFreeAsync(piece, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT(cuMemsetD8Async(piece, 0, 1, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(!graph);
    EXPECT(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT(cuMemFreeAsync(piece, stream), 0);
}

/* 6.18 Stream Management, cuStreamBeginCapture and cuStreamEndCapture. */
PART(a_capture_begins_and_ends_once_and_never_in_the_legacy_stream)
{
    CUstream other;
    CUgraph graph;
    begin();
    EXPECT(cuStreamCreate(&other, 0), 0);
    EXPECT(cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
           CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT(cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)9), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
           CUDA_ERROR_ILLEGAL_STATE);
    EXPECT(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT(status_of(other), CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT(cuStreamEndCapture(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuStreamEndCapture(stream, &graph), 0);
    EXPECT(node_count(graph), 0);
    EXPECT(cuStreamBeginCapture(stream), 0); /* the first version: global mode */
    EXPECT(cuStreamEndCapture(stream, &graph), 0);
}

/* 6.18, CU_STREAM_PER_THREAD: a stream like any other, also as stream 0 of per-thread
 * functions. */
PART(a_thread_s_own_stream_can_be_captured)
{
    CUgraph graph;
    CUdeviceptr piece;
    begin();
    EXPECT(cuStreamBeginCapture_v2_ptsz(NULL, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    EXPECT(status_of(CU_STREAM_PER_THREAD), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT(cuMemAllocAsync_ptsz(&piece, MIB, NULL), 0);
    EXPECT(cuMemFreeAsync(piece, CU_STREAM_PER_THREAD), 0);
    EXPECT(cuStreamEndCapture_ptsz(NULL, &graph), 0);
    EXPECT(node_count(graph), 2);
}

/* 6.18, cuThreadExchangeStreamCaptureMode: unsafe calls, and the threads they are forbidden to. */
PART(an_allocation_that_a_capture_would_miss_is_refused)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUdeviceptr block = 7;
    CUgraph graph;
    void *pinned = NULL;
    begin();
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), 0);
    EXPECT(free_bytes() > 0, 1); /* queries are allowed */
    EXPECT(cuMemAlloc_v2(&block, MIB), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT(block, 7);
    EXPECT(cuMemHostAlloc(&pinned, MIB, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), 0);
    EXPECT(cuThreadExchangeStreamCaptureMode(&mode), 0);
    EXPECT(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT(cuMemAlloc_v2(&block, MIB), 0);
    EXPECT(cuThreadExchangeStreamCaptureMode(&mode), 0);
    EXPECT(cuStreamEndCapture(stream, &graph), 0);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    EXPECT(cuMemFree_v2(block), 0);
    EXPECT(cuStreamEndCapture(stream, &graph), 0);
}

static CUresult result_there;

static void *allocate_there(GMT_UNUSED void *nothing)
{
    CUdeviceptr block;
    EXPECT(cuCtxSetCurrent(context), 0);
    result_there = cuMemAlloc_v2(&block, MIB);
    return NULL;
}

static CUresult in_another_thread(void *(*what)(void *))
{
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, what, NULL), 0);
    EXPECT(pthread_join(thread, NULL), 0);
    return result_there;
}

/* 6.18, cuThreadExchangeStreamCaptureMode: only global captures forbid unsafe calls in other
 * threads. */
PART(another_thread_is_disturbed_by_a_global_capture_only)
{
    CUgraph graph;
    begin();
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), 0);
    EXPECT(in_another_thread(allocate_there), 0);
    EXPECT(cuStreamEndCapture(stream, &graph), 0);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
    EXPECT(in_another_thread(allocate_there), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void *end_there(GMT_UNUSED void *nothing)
{
    CUgraph graph;
    EXPECT(cuCtxSetCurrent(context), 0);
    result_there = cuStreamEndCapture(stream, &graph);
    return NULL;
}

/* 6.18, cuStreamEndCapture: from the same thread, unless the mode was relaxed. */
PART(a_capture_ends_in_its_own_thread_unless_relaxed)
{
    CUgraph graph;
    begin();
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), 0);
    EXPECT(in_another_thread(end_there), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    EXPECT(cuStreamEndCapture(stream, &graph), 0);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    EXPECT(in_another_thread(end_there), 0);
}

/* 6.18, cuStreamWaitEvent, and CUDA_ERROR_STREAM_CAPTURE_UNJOINED, _UNMATCHED. */
PART(a_stream_that_joins_in_has_to_come_back)
{
    CUstream other;
    CUevent fork, join;
    CUgraph graph;
    begin();
    EXPECT(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), 0);
    EXPECT(cuEventCreate(&fork, 0), 0);
    EXPECT(cuEventCreate(&join, 0), 0);
    for (int comes_back = 0; comes_back < 2; comes_back++) {
        CUdeviceptr piece;
        EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
        EXPECT(cuMemAllocAsync(&piece, MIB, stream), 0);
        EXPECT(cuEventRecord(fork, stream), 0);
        EXPECT(cuStreamWaitEvent(other, fork, 0), 0);
        EXPECT(status_of(other), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        EXPECT(cuMemFreeAsync(piece, other), 0);
        EXPECT(cuEventRecord(join, other), 0);
        EXPECT(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        if (comes_back)
            EXPECT(cuStreamWaitEvent(stream, join, 0), 0);
        EXPECT(cuStreamEndCapture(stream, &graph),
               comes_back ? 0 : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        EXPECT(status_of(other), CU_STREAM_CAPTURE_STATUS_NONE);
    }
    EXPECT(node_count(graph), 2);
    EXPECT(cuEventQuery(fork), CUDA_ERROR_CAPTURED_EVENT);
    EXPECT(cuEventRecord(fork, stream), 0);
    EXPECT(cuEventQuery(fork), 0);
}

/* CUresult, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, _ISOLATION, _UNSUPPORTED. */
PART(what_does_not_belong_to_a_capture_breaks_it)
{
    CUstream blocking;
    CUevent before;
    CUdeviceptr block;
    CUgraph graph;
    begin();
    EXPECT(cuMemAlloc_v2(&block, MIB), 0);
    EXPECT(cuEventCreate(&before, 0), 0);
    EXPECT(cuEventRecord(before, NULL), 0);
    EXPECT(cuStreamCreate(&blocking, 0), 0);
    EXPECT(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    EXPECT(cuMemsetD8_v2(block, 0, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    EXPECT(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    EXPECT(cuMemsetD8_v2(block, 0, 1), 0); /* this call synchronizes with no stream */
    EXPECT(cuStreamWaitEvent(stream, before, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
    EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* 6.18, cuStreamGetCaptureInfo, cuStreamUpdateCaptureDependencies, cuStreamBeginCaptureToGraph. */
PART(a_capture_tells_where_it_is_and_goes_on_in_a_given_graph)
{
    CUstreamCaptureStatus status;
    cuuint64_t id = 0, again = 0;
    CUgraph graph, ended;
    CUgraphNode root, last;
    const CUgraphNode *dependencies = NULL;
    size_t count = 0;
    CUdeviceptr piece;
    begin();
    EXPECT(cuGraphCreate(&graph, 0), 0);
    EXPECT(cuGraphAddEmptyNode(&root, graph, NULL, 0), 0);
    EXPECT(
        cuStreamBeginCaptureToGraph(stream, graph, &root, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL),
        0);
    EXPECT(cuStreamGetCaptureInfo_v2(stream, &status, &id, &ended, &dependencies, &count), 0);
    EXPECT(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK(id && ended == graph && count == 1 && dependencies[0] == root);
    EXPECT(cuMemAllocAsync(&piece, MIB, stream), 0);
    EXPECT(cuStreamGetCaptureInfo(stream, &status, &again), 0);
    EXPECT(again, id);
    EXPECT(cuStreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &dependencies, NULL, &count), 0);
    CHECK(count == 1 && dependencies[0] != root);
    last = dependencies[0];
    EXPECT(cuStreamUpdateCaptureDependencies(stream, &root, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
           0);
    EXPECT(cuStreamEndCapture(stream, &ended), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    EXPECT(cuGraphDestroy(graph), 0); /* still owned by the program */
    EXPECT(cuGraphNodeGetType(last, (CUgraphNodeType[]){0}), CUDA_ERROR_INVALID_VALUE);
}

/* 6.8 Context Management, cuCtxDestroy: a capture ends with its context. */
PART(a_capture_goes_with_its_context)
{
    CUdeviceptr block;
    begin();
    EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
    EXPECT(cuCtxDestroy_v2(context), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(cuMemAlloc_v2(&block, MIB), 0);
}

SIM_MAIN()
