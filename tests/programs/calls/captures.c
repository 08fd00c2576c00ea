/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Captures a stream into a graph, instantiates it, and destroys both; then ends an invalid capture,
 * and tries to end a capture that was not begun. Prints the handles of the stream and both graphs.
 */
#include <stdio.h>

#include "gpumemtrace/cuda/abi.h"

static int capture(CUstream stream, CUgraph *graph)
{
    return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) ||
           cuStreamEndCapture(stream, graph);
}

/* Waits on the host for an event that was recorded in the capture. This wait invalidates the
   capture. */
static int break_capture(CUstream stream)
{
    CUgraph graph;
    return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) ||
           cuStreamSynchronize(stream) == CUDA_SUCCESS ||
           cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuStreamCreate(&stream, 0) || capture(stream, &graph) ||
        cuGraphInstantiateWithFlags(&executable, graph, 0) || cuGraphDestroy(graph))
        return 9;
    printf("%llu %llu %llu\n", (unsigned long long)(size_t)stream,
           (unsigned long long)(size_t)graph, (unsigned long long)(size_t)executable);
    return cuGraphExecDestroy(executable) || break_capture(stream) ||
           cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS;
}
