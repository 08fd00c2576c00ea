/* SPDX-License-Identifier: MIT */
/*
 * Stream capture. The calls are forwarded to the driver. In CUDA 13 some query functions have the
 * same name but more parameters. runtime_version() tells which version the caller was compiled for.
 */
#include <stdbool.h>
#include <stdint.h>

#include "call.h"
#include "only_here.h"
#include "soname.h"

TWIN(_ptsz, cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
     NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuStreamBeginCapture_v2[form](stream,
                                                                  (CUstreamCaptureMode)mode)))

static cudaError_t begin_in(enum stream_form form, cudaStream_t stream, cudaGraph_t graph,
                            const cudaGraphNode_t *dependencies, size_t count,
                            enum cudaStreamCaptureMode mode)
{
    return error_of_driver(call_driver()->cuStreamBeginCaptureToGraph[form](
        stream, graph, dependencies, NULL, count, (CUstreamCaptureMode)mode));
}

TWIN(_ptsz, cudaStreamBeginCaptureToGraph,
     (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
      GMT_UNUSED const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode),
     NEEDS_CONTEXT, begin_in(form, stream, graph, dependencies, count, mode))
TWIN(_ptsz, cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuStreamEndCapture[form](stream, graph)))

/* --- queries --- */

static cudaError_t is_capturing(enum stream_form form, cudaStream_t stream,
                                enum cudaStreamCaptureStatus *status)
{
    CUstreamCaptureStatus answer;
    const cudaError_t error =
        error_of_driver(call_driver()->cuStreamIsCapturing[form](stream, &answer));
    if (error == cudaSuccess)
        *status = (enum cudaStreamCaptureStatus)answer;
    return error;
}

TWIN(_ptsz, cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
     NEEDS_CONTEXT, CALL_UNLESS_NULL(status, is_capturing(form, stream, status)))

/* The outputs; all except status may be NULL. */
struct answers {
    enum cudaStreamCaptureStatus *status;
    unsigned long long *id;
    cudaGraph_t *graph;
    const cudaGraphNode_t **dependencies;
    const cudaGraphEdgeData **edges;
    size_t *count;
};

static cudaError_t get_info(enum stream_form form, cudaStream_t stream, struct answers answers)
{
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    const cudaError_t error = error_of_driver(call_driver()->cuStreamGetCaptureInfo_v2[form](
        stream, &status, &id, answers.graph, answers.dependencies, answers.count));
    if (error)
        return error;
    *answers.status = (enum cudaStreamCaptureStatus)status;
    if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && answers.id)
        *answers.id = id;
    if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && answers.edges)
        *answers.edges = NULL; /* no edge has data */
    return cudaSuccess;
}

#define ANSWERS(...)                                                                               \
    CALL_UNLESS_NULL(status, get_info(form, stream, (struct answers){status, id, __VA_ARGS__}))

/* Before CUDA 13, these functions return only the status and the id. */
TWIN(_ptsz, cudaStreamGetCaptureInfo,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
      cudaGraph_t *graph, const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
      size_t *count),
     NEEDS_CONTEXT,
     runtime_version() < 13000 ? ANSWERS(NULL, NULL, NULL, NULL)
                               : ANSWERS(graph, dependencies, edges, count))
TWIN(_ptsz, cudaStreamGetCaptureInfo_v2,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
      cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count),
     NEEDS_CONTEXT, ANSWERS(graph, dependencies, NULL, count))
TWIN(_ptsz, cudaStreamGetCaptureInfo_v3,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
      cudaGraph_t *graph, const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
      size_t *count),
     NEEDS_CONTEXT, ANSWERS(graph, dependencies, edges, count))

static cudaError_t capture_update(enum stream_form form, cudaStream_t stream,
                                  cudaGraphNode_t *dependencies, size_t count, unsigned int flags)
{
    return error_of_driver(call_driver()->cuStreamUpdateCaptureDependencies_v2[form](
        stream, dependencies, NULL, count, flags));
}

/* Before CUDA 13, these functions have no parameter for edge data, so the parameter that is now the
 * fourth was the third. */
TWIN(_ptsz, cudaStreamUpdateCaptureDependencies,
     (cudaStream_t stream, cudaGraphNode_t *dependencies, uintptr_t third, uintptr_t fourth,
      unsigned int fifth),
     NEEDS_CONTEXT,
     runtime_version() < 13000
         ? capture_update(form, stream, dependencies, third, (unsigned int)fourth)
         : capture_update(form, stream, dependencies, fourth, fifth))
TWIN(_ptsz, cudaStreamUpdateCaptureDependencies_v2,
     (cudaStream_t stream, cudaGraphNode_t *dependencies, GMT_UNUSED const cudaGraphEdgeData *edges,
      size_t count, unsigned int flags),
     NEEDS_CONTEXT, capture_update(form, stream, dependencies, count, flags))

static cudaError_t exchange_mode(enum cudaStreamCaptureMode *mode)
{
    CUstreamCaptureMode exchanged = (CUstreamCaptureMode)*mode;
    const cudaError_t error =
        error_of_driver(call_driver()->cuThreadExchangeStreamCaptureMode(&exchanged));
    if (error == cudaSuccess)
        *mode = (enum cudaStreamCaptureMode)exchanged;
    return error;
}

GMT_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(mode, exchange_mode(mode)));
}
