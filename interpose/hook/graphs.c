/* SPDX-License-Identifier: MIT */
/*
 * The hooks of graphs that no row of hooks.def can say: a node of any kind, and the beginning and
 * end of a capture. See graphs.h.
 */
#include "graphs.h"

#include <stdatomic.h>
#include <stddef.h>

#include "hooked_call.h"
#include "interpose/cuda/device.h"
#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "interpose/lookup/resolve.h"

static _Atomic int open_captures;
static _Atomic uint64_t memory_devices;

_Static_assert(DEVICE_LIMIT <= 64, "one bit per device");

bool graphs_capture_is_open(void)
{
    return atomic_load_explicit(&open_captures, memory_order_relaxed) > 0;
}

/* Stream 0 cannot be captured, and asking about it may fail while others are. */
bool graphs_is_capturing(uint64_t stream)
{
    return stream && graphs_capture_is_open() && device_is_capturing(stream);
}

void graphs_expect_memory(int device)
{
    if (device >= 0 && device < DEVICE_LIMIT)
        atomic_fetch_or_explicit(&memory_devices, UINT64_C(1) << device, memory_order_relaxed);
}

uint64_t graphs_devices(void)
{
    return atomic_load_explicit(&memory_devices, memory_order_relaxed);
}

int graphs_first_device(uint64_t devices)
{
    int device = 0;
    while (!(devices & UINT64_C(1) << device))
        device++;
    return device;
}

/* --- captures --- */

/* A stream that is destroyed while it is captured leaves the count too high: then the driver is
 * asked less, and nothing else happens. */
static void count_capture(int change)
{
    if (atomic_fetch_add_explicit(&open_captures, change, memory_order_relaxed) + change < 0)
        atomic_fetch_sub_explicit(&open_captures, change, memory_order_relaxed);
}

/* An end that finds the capture broken ends it all the same; one by the wrong thread does not. */
static bool ends_capture(CUresult status)
{
    enum { FIRST_CAPTURE_ERROR = 900, WRONG_THREAD = 908 };
    return status == CUDA_SUCCESS ||
           ((int)status >= FIRST_CAPTURE_ERROR && (int)status < WRONG_THREAD);
}

/* clang-format off */
#define COUNTED(name, parameters, arguments, condition, change)                                    \
    GMT_EXPORT CUresult name parameters;                                                           \
    CUresult name parameters                                                                       \
    {                                                                                              \
        typedef CUresult real_function parameters;                                                 \
        real_function *real =                                                                      \
            GMT_FUNCTION(real_function *, resolve_hook(HOOK_##name, GMT_CALLER_ADDRESS()));        \
        if (!real)                                                                                 \
            return CUDA_ERROR_NOT_FOUND;                                                           \
        const CUresult status = real arguments;                                                    \
        if (condition)                                                                             \
            count_capture(change);                                                                 \
        return status;                                                                             \
    }
#define BEGIN(name) COUNTED(name, (CUstream stream, CUstreamCaptureMode mode), (stream, mode),     \
                            status == CUDA_SUCCESS, 1)
#define BEGIN_TO_GRAPH(name)                                                                       \
    COUNTED(name, (CUstream stream, CUgraph graph, const CUgraphNode *dependencies,                \
                   const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),          \
            (stream, graph, dependencies, edges, count, mode), status == CUDA_SUCCESS, 1)
#define END(name) COUNTED(name, (CUstream stream, CUgraph *graph), (stream, graph),                \
                          ends_capture(status), -1)
/* clang-format on */

/* clang-format off */
COUNTED(cuStreamBeginCapture, (CUstream stream), (stream), status == CUDA_SUCCESS, 1)
COUNTED(cuStreamBeginCapture_ptsz, (CUstream stream), (stream), status == CUDA_SUCCESS, 1)
BEGIN(cuStreamBeginCapture_v2)
BEGIN(cuStreamBeginCapture_v2_ptsz)
BEGIN_TO_GRAPH(cuStreamBeginCaptureToGraph)
BEGIN_TO_GRAPH(cuStreamBeginCaptureToGraph_ptsz)
END(cuStreamEndCapture)
END(cuStreamEndCapture_ptsz)
/* clang-format on */

/* --- nodes of any kind --- */

/* The runtime's cudaGraphAddNode took five parameters before CUDA 13 and six since, under one name:
 * it is seen by what it calls here. */

/* What CUgraphNodeParams and cudaGraphNodeParams share, as far as memory nodes go. */
struct node_parameters {
    int type;
    int reserved[3];
    union {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        CUdeviceptr freed;
    } of;
};

enum { NODE_ALLOC = 10, NODE_FREE = 11 }; /* CU_GRAPH_NODE_TYPE_MEM_… */

static struct event_args args_of(const struct node_parameters *node, bool ok)
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
#define ADD_NODE(type, name, missing, list, arguments)                                             \
    GMT_EXPORT type name list;                                                                     \
    type name list                                                                                 \
    {                                                                                              \
        typedef type real_function list;                                                           \
        real_function *real =                                                                      \
            GMT_FUNCTION(real_function *, resolve_hook(HOOK_##name, GMT_CALLER_ADDRESS()));        \
        const struct node_parameters *memory_node =                                                \
            (const struct node_parameters *)(void *)parameters;                                    \
        struct hooked_call call;                                                                    \
        if (!real)                                                                                 \
            return missing;                                                                        \
        if (!begin_node(&call, HOOK_##name, memory_node))                                       \
            return real arguments;                                                                 \
        const type status = real arguments;                                                        \
        const struct event_args args = args_of(memory_node, status == 0);                     \
        hooked_call_after(&call, &args, (int)status);                                              \
        return status;                                                                             \
    }

ADD_NODE(CUresult, cuGraphAddNode, CUDA_ERROR_NOT_FOUND,
         (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
          size_t dependency_count, CUgraphNodeParams *parameters),
         (node, graph, dependencies, dependency_count, parameters))
ADD_NODE(CUresult, cuGraphAddNode_v2, CUDA_ERROR_NOT_FOUND,
         (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
          const CUgraphEdgeData *edges, size_t dependency_count, CUgraphNodeParams *parameters),
         (node, graph, dependencies, edges, dependency_count, parameters))
/* clang-format on */
