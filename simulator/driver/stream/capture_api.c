/* SPDX-License-Identifier: MIT */
/*
 * API functions that begin, end and query stream captures.
 */
#include "capture.h"
#include "gpumemtrace/compiler.h"
#include "stream.h"

/* false: the result is set. */
static bool can_begin(struct call *call, CUstream stream, CUstreamCaptureMode mode)
{
    if (!stream_check(call, stream) ||
        !call_requires(call, (int)mode >= 0 && mode <= CU_STREAM_CAPTURE_MODE_RELAXED))
        return false;
    if (!stream_key(call, stream))
        call->result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    else if (capture_of(call, stream))
        call->result = CUDA_ERROR_ILLEGAL_STATE;
    return !call->result;
}

static CUresult begin_new(const char *function, CUstream stream, CUstreamCaptureMode mode)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && can_begin(&call, stream, mode)) {
        struct graph *graph = graph_new();
        call.result = graph
                          ? capture_begin(&call, stream, graph, true, (struct graph_nodes){0}, mode)
                          : CUDA_ERROR_OUT_OF_MEMORY;
        if (call.result && graph)
            graph_delete(graph);
    }
    return call_end(&call);
}

static CUresult do_cuStreamBeginCapture(const char *function, CUstream stream)
{
    return begin_new(function, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static CUresult do_cuStreamBeginCapture_v2(const char *function, CUstream stream,
                                           CUstreamCaptureMode mode)
{
    return begin_new(function, stream, mode);
}

static CUresult do_cuStreamBeginCaptureToGraph(const char *function, CUstream stream,
                                               CUgraph handle, const CUgraphNode *dependencies,
                                               size_t count, CUstreamCaptureMode mode)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && can_begin(&call, stream, mode)) {
        const struct graph_nodes nodes = {(struct graph_node *const *)(const void *)dependencies,
                                          count};
        struct graph *graph = graph_find(handle);
        if (call_requires(&call, graph && !graph->is_captured_into && !graph->exec &&
                                     (dependencies || !count) && graph_owns(graph, nodes)))
            call.result = capture_begin(&call, stream, graph, false, nodes, mode);
    }
    return call_end(&call);
}

TWIN(_ptsz, cuStreamBeginCapture, (CUstream stream), stream)
TWIN(_ptsz, cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), stream, mode)
TWIN(_ptsz, cuStreamBeginCaptureToGraph,
     (CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
      GMT_UNUSED const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
     stream, graph, dependencies, count, mode)

static CUresult do_cuStreamEndCapture(const char *function, CUstream stream, CUgraph *handle)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        call_requires(&call, handle != NULL))
        call.result = capture_end(&call, stream, handle);
    return call_end(&call);
}

TWIN(_ptsz, cuStreamEndCapture, (CUstream stream, CUgraph *graph), stream, graph)

/* --- queries --- */

static CUstreamCaptureStatus status_of(const struct capture *capture)
{
    if (!capture)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return capture->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                               : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* false: the result is set. The legacy stream cannot be queried while a stream that synchronizes
 * with it is captured. */
static bool capture_can_query(struct call *call, CUstream stream)
{
    if (stream_check(call, stream) && capture_behind_legacy(call, stream))
        call->result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return !call->result;
}

/* The outputs; all except status may be NULL. */
struct capture_info {
    CUstreamCaptureStatus *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **dependencies;
    const CUgraphEdgeData **edges;
    size_t *dependency_count;
};

static void capture_fill_info(const struct capture *capture, const struct frontier *frontier,
                              const struct capture_info *info)
{
    if (info->id)
        *info->id = capture->id;
    if (info->graph)
        *info->graph = (CUgraph)(void *)capture->graph;
    if (info->dependencies)
        *info->dependencies = (const CUgraphNode *)(const void *)frontier->nodes;
    if (info->edges)
        *info->edges = NULL; /* no edge has data */
    if (info->dependency_count)
        *info->dependency_count = frontier->count;
}

static CUresult capture_get_info(const char *function, CUstream stream,
                                 const struct capture_info *info)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, info->status != NULL) && capture_can_query(&call, stream)) {
        const struct capture *capture = capture_of(&call, stream);
        *info->status = status_of(capture);
        if (*info->status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
            capture_fill_info(capture, capture_frontier(capture, &call, stream), info);
    }
    return call_end(&call);
}

static CUresult do_cuStreamIsCapturing(const char *function, CUstream stream,
                                       CUstreamCaptureStatus *status)
{
    return capture_get_info(function, stream, &(struct capture_info){.status = status});
}

static CUresult do_cuStreamGetCaptureInfo(const char *function, CUstream stream,
                                          CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return capture_get_info(function, stream, &(struct capture_info){.status = status, .id = id});
}

static CUresult do_cuStreamGetCaptureInfo_v2(const char *function, CUstream stream,
                                             const struct capture_info *info)
{
    return capture_get_info(function, stream, info);
}

static CUresult do_cuStreamGetCaptureInfo_v3(const char *function, CUstream stream,
                                             const struct capture_info *info)
{
    return capture_get_info(function, stream, info);
}

TWIN(_ptsz, cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status), stream, status)
TWIN(_ptsz, cuStreamGetCaptureInfo,
     (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id), stream, status, id)
TWIN(_ptsz, cuStreamGetCaptureInfo_v2,
     (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
      const CUgraphNode **dependencies, size_t *count),
     stream, &(struct capture_info){status, id, graph, dependencies, NULL, count})
TWIN(_ptsz, cuStreamGetCaptureInfo_v3,
     (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
      const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count),
     stream, &(struct capture_info){status, id, graph, dependencies, edges, count})

static CUresult capture_update(const char *function, CUstream stream, struct graph_nodes nodes,
                               unsigned flags)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream)) {
        struct capture *capture = capture_of(&call, stream);
        if (!capture || capture->is_invalid) {
            call.result = CUDA_ERROR_ILLEGAL_STATE;
        } else if (call_requires(&call, flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES &&
                                            (nodes.items || !nodes.count) &&
                                            graph_owns(capture->graph, nodes))) {
            struct frontier *frontier = capture_frontier(capture, &call, stream);
            call.result = flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES
                              ? frontier_set(frontier, nodes)
                              : frontier_join(frontier, nodes);
        }
    }
    return call_end(&call);
}

static CUresult do_cuStreamUpdateCaptureDependencies(const char *function, CUstream stream,
                                                     CUgraphNode *handles, size_t count,
                                                     unsigned flags)
{
    const struct graph_nodes nodes = {(struct graph_node *const *)(void *)handles, count};
    return capture_update(function, stream, nodes, flags);
}

static CUresult do_cuStreamUpdateCaptureDependencies_v2(const char *function, CUstream stream,
                                                        CUgraphNode *handles, size_t count,
                                                        unsigned flags)
{
    return do_cuStreamUpdateCaptureDependencies(function, stream, handles, count, flags);
}

TWIN(_ptsz, cuStreamUpdateCaptureDependencies,
     (CUstream stream, CUgraphNode *nodes, size_t count, unsigned int flags), stream, nodes, count,
     flags)
TWIN(_ptsz, cuStreamUpdateCaptureDependencies_v2,
     (CUstream stream, CUgraphNode *nodes, GMT_UNUSED const CUgraphEdgeData *edges, size_t count,
      unsigned int flags),
     stream, nodes, count, flags)

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, mode && (int)*mode >= 0 && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED))
        *mode = open_captures_exchange_mode(*mode);
    return call_end(&call);
}
