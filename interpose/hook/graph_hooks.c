/* SPDX-License-Identifier: MIT */
/*
 * The graph hooks that no row of hooks.def can describe: begin and end of a stream capture, and the
 * functions that add a node of any type. They note captures and devices in graphs.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graphs.h"
#include "hooked_call.h"
#include "prologue.h"

/* --- stream captures --- */

/* Has this call of cuStreamEndCapture ended a capture? The function also ends a capture that it
 * reports as invalid, but it does not end a capture of another thread. */
static bool ends_capture(CUresult status)
{
    enum { FIRST_CAPTURE_ERROR = 900, WRONG_THREAD = 908 };
    return status == CUDA_SUCCESS ||
           ((int)status >= FIRST_CAPTURE_ERROR && (int)status < WRONG_THREAD);
}

static struct event_args begin_event(CUstream stream)
{
    return (struct event_args){
        .kind = EVENT_CAPTURE_BEGIN, .device = DEVICE_CURRENT, .stream = bits(stream)};
}

static struct event_args end_event(CUstream stream, CUgraph graph)
{
    return (struct event_args){.kind = EVENT_CAPTURE_END,
                               .device = DEVICE_CURRENT,
                               .stream = bits(stream),
                               .object = bits(graph)};
}

/* If no capture was open, nothing is recorded. The end of an invalid capture is recorded with graph
 * 0. */
static void note_end(struct hooked_call *call, CUresult status, CUstream stream, CUgraph *graph)
{
    struct event_args args = end_event(stream, status == CUDA_SUCCESS && graph ? *graph : NULL);
    if (ends_capture(status))
        hooked_call_after(call, &args, 0);
    else
        hooked_call_leave(call);
}

/* clang-format off */
#define BEGIN(name, parameters, arguments)                                                         \
    HOOK_FUNCTION(driver, name, parameters,                                                        \
        struct hooked_call call;                                                                   \
        const bool noted = hooked_call_begin(&call, HOOK_##name, EVENT_CAPTURE_BEGIN, MEMORY_NONE);\
        const CUresult status = real arguments;                                                    \
        struct event_args args = begin_event(stream);                                              \
        if (status == CUDA_SUCCESS)                                                                \
            graphs_count_capture(1);                                                               \
        if (noted)                                                                                 \
            hooked_call_after(&call, &args, (int)status);                                          \
        return status;)
#define BEGIN_TO_GRAPH(name)                                                                       \
    BEGIN(name, (CUstream stream, CUgraph graph, const CUgraphNode *dependencies,                  \
                 const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),            \
          (stream, graph, dependencies, edges, count, mode))
#define END(name)                                                                                  \
    HOOK_FUNCTION(driver, name, (CUstream stream, CUgraph *graph),                                 \
        struct hooked_call call;                                                                   \
        const bool noted = hooked_call_begin(&call, HOOK_##name, EVENT_CAPTURE_END, MEMORY_NONE);  \
        const CUresult status = real(stream, graph);                                               \
        if (ends_capture(status))                                                                  \
            graphs_count_capture(-1);                                                              \
        if (noted)                                                                                 \
            note_end(&call, status, stream, graph);                                                \
        return status;)

BEGIN(cuStreamBeginCapture, (CUstream stream), (stream))
BEGIN(cuStreamBeginCapture_ptsz, (CUstream stream), (stream))
BEGIN(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
BEGIN(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
BEGIN_TO_GRAPH(cuStreamBeginCaptureToGraph)
BEGIN_TO_GRAPH(cuStreamBeginCaptureToGraph_ptsz)
END(cuStreamEndCapture)
END(cuStreamEndCapture_ptsz)
/* clang-format on */

/* --- nodes of any type --- */

/* cudaGraphAddNode of the runtime has no hook, because one name has two signatures: five parameters
 * before CUDA 13, six since. cudaGraphAddNode calls the functions below. */

/* The layout that CUgraphNodeParams and cudaGraphNodeParams have in common for memory nodes. */
struct node_parameters {
    int type;
    int reserved[3];
    union {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        CUdeviceptr freed;
    } of;
};

enum { NODE_ALLOC = 10, NODE_FREE = 11 }; /* CU_GRAPH_NODE_TYPE_MEM_… */

static struct event_args node_event(const struct node_parameters *node, bool ok)
{
    if (node->type == NODE_FREE)
        return (struct event_args){.kind = EVENT_FREE,
                                   .memory = MEMORY_GRAPH_NODE,
                                   .device = DEVICE_BY_ADDRESS,
                                   .address = node->of.freed};
    return (struct event_args){.kind = EVENT_ALLOC,
                               .memory = MEMORY_GRAPH_NODE,
                               .device = node->of.alloc.poolProps.location.id,
                               .address = ok ? node->of.alloc.dptr : 0,
                               .size_bytes = node->of.alloc.bytesize};
}

static bool is_memory_node(const struct node_parameters *node)
{
    return node && (node->type == NODE_ALLOC || node->type == NODE_FREE);
}

static bool begin_node(struct hooked_call *call, enum hook hook, const struct node_parameters *node)
{
    return is_memory_node(node) &&
           hooked_call_begin(call, hook, node->type == NODE_FREE ? EVENT_FREE : EVENT_ALLOC,
                             MEMORY_GRAPH_NODE);
}

/* clang-format off */
#define ADD_NODE(name, list, arguments)                                                            \
    HOOK_FUNCTION(driver, name, list,                                                              \
        const struct node_parameters *node = (const struct node_parameters *)(void *)parameters;   \
        struct hooked_call call;                                                                   \
        if (!begin_node(&call, HOOK_##name, node))                                                 \
            return real arguments;                                                                 \
        const CUresult status = real arguments;                                                    \
        struct event_args args = node_event(node, status == 0);                                    \
        hooked_call_after(&call, &args, (int)status);                                              \
        return status;)

ADD_NODE(cuGraphAddNode,
         (CUgraphNode *added, CUgraph graph, const CUgraphNode *dependencies,
          size_t dependency_count, CUgraphNodeParams *parameters),
         (added, graph, dependencies, dependency_count, parameters))
ADD_NODE(cuGraphAddNode_v2,
         (CUgraphNode *added, CUgraph graph, const CUgraphNode *dependencies,
          const CUgraphEdgeData *edges, size_t dependency_count, CUgraphNodeParams *parameters),
         (added, graph, dependencies, edges, dependency_count, parameters))
/* clang-format on */
