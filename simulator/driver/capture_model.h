/* SPDX-License-Identifier: MIT */
/*
 * What a capture is, for the functions that begin, end and describe one.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_CAPTURE_MODEL_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_CAPTURE_MODEL_H

#include "capture.h"
#include "frontier.h"

struct capture {
    struct capture *next;
    uint64_t id, origin_key;
    CUstreamCaptureMode mode;
    const void *thread; /* the mark of the one that began it */
    const struct context *context;
    struct graph *graph;
    bool owns_graph, is_invalid;
    bool is_blocking;          /* the legacy stream waits for it */
    struct graph_node *before; /* the last node that was there already */
    struct frontier *streams, *events;
};

/* What the stream's next node waits for; the stream takes part. */
struct frontier *capture_frontier(const struct capture *capture, const struct call *call,
                                  CUstream stream);
/* The capture that work in this stream, if it is the legacy one, would have to wait for; NULL:
 * none. */
struct capture *capture_behind_legacy(const struct call *call, CUstream stream);
CUresult capture_begin(const struct call *call, CUstream stream, struct graph *graph,
                       bool owns_graph, struct graph_nodes dependencies, CUstreamCaptureMode mode);
/* From the thread and the stream that began it. */
CUresult capture_end(const struct call *call, CUstream stream, CUgraph *graph);
CUstreamCaptureMode capture_exchange_mode(CUstreamCaptureMode mode);

#endif
