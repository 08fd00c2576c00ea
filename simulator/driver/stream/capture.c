/* SPDX-License-Identifier: MIT */
/*
 * Open captures, and the position of each of their streams and events in the graph. See capture.h.
 */
#include "capture.h"

#include "stream.h"

/* --- captures --- */

struct capture *capture_of(const struct call *call, CUstream stream)
{
    const uint64_t key = open_captures_first() ? stream_key(call, stream) : 0;
    struct capture *capture = key ? open_captures_first() : NULL;
    for (; capture; capture = capture->next)
        if (frontier_find(capture->streams, key))
            return capture;
    return NULL;
}

struct frontier *capture_frontier(const struct capture *capture, const struct call *call,
                                  CUstream stream)
{
    return frontier_find(capture->streams, stream_key(call, stream));
}

struct capture *capture_of_event(uint64_t event_key)
{
    for (struct capture *capture = open_captures_first(); capture; capture = capture->next)
        if (frontier_find(capture->events, event_key))
            return capture;
    return NULL;
}

void capture_invalidate(struct capture *capture)
{
    capture->is_invalid = true;
}

CUresult capture_add(struct capture *capture, const struct call *call, CUstream stream,
                     CUgraphNodeParams *parameters)
{
    struct frontier *frontier = capture_frontier(capture, call, stream);
    struct graph_node *node = NULL;
    if (capture->is_invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CUresult result = graph_add(capture->graph, frontier_nodes(frontier), parameters, &node);
    if (!result)
        result = frontier_set(frontier, (struct graph_nodes){&node, 1});
    if (result)
        capture_invalidate(capture);
    return result;
}

struct capture *capture_behind_legacy(const struct call *call, CUstream stream)
{
    if (!open_captures_first() || stream_key(call, stream))
        return NULL;
    for (struct capture *capture = open_captures_first(); capture; capture = capture->next)
        if (capture->object.context == call->context && capture->is_blocking)
            return capture;
    return NULL;
}

static bool capture_refuse(struct call *call, struct capture *capture, CUresult reason)
{
    capture_invalidate(capture);
    call->result = reason;
    return false;
}

bool capture_lets_through(struct call *call, CUstream stream, CUgraphNodeParams *work)
{
    struct capture *capture = capture_behind_legacy(call, stream);
    if (capture)
        return capture_refuse(call, capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    capture = capture_of(call, stream);
    if (!capture && work && progress_is_late())
        progress_submit(stream_name(call, stream));
    if (!capture)
        return true;
    if (!work)
        return capture_refuse(call, capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    call->result = capture_add(capture, call, stream, work);
    return false;
}

/* Called when the capture ends or its context is destroyed. */
static void capture_ended(void *object)
{
    struct capture *capture = object;
    open_captures_remove(capture);
    frontier_drop_all(&capture->streams);
    frontier_drop_all(&capture->events);
    capture->graph->is_captured_into = false;
    if (capture->owns_graph)
        graph_delete(capture->graph);
}

/* --- events --- */

void capture_note_event(struct capture *capture, const struct call *call, CUstream stream,
                        uint64_t event_key)
{
    const struct frontier *now = capture_frontier(capture, call, stream);
    capture_forget_event(event_key);
    struct frontier *noted = frontier_add(&capture->events, event_key);
    if (!noted || frontier_set(noted, frontier_nodes(now)))
        capture_invalidate(capture);
}

void capture_forget_event(uint64_t event_key)
{
    for (struct capture *capture = open_captures_first(); capture; capture = capture->next)
        frontier_drop(&capture->events, event_key);
}

CUresult capture_join(struct capture *capture, const struct call *call, CUstream stream,
                      uint64_t event_key)
{
    const struct frontier *noted = frontier_find(capture->events, event_key);
    const uint64_t key = stream_key(call, stream);
    struct capture *other = capture_of(call, stream);
    if (!key || (other && other != capture)) {
        capture_invalidate(capture);
        return key ? CUDA_ERROR_STREAM_CAPTURE_MERGE : CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    struct frontier *own = frontier_add(&capture->streams, key);
    return own ? frontier_join(own, frontier_nodes(noted)) : CUDA_ERROR_OUT_OF_MEMORY;
}

/* --- beginning and ending --- */

CUresult capture_begin(const struct call *call, CUstream stream, struct graph *graph,
                       bool owns_graph, struct graph_nodes dependencies, CUstreamCaptureMode mode)
{
    const uint64_t key = stream_key(call, stream);
    struct capture *capture =
        object_new(OBJECT_CAPTURE, stream_context(call, stream), sizeof *capture);
    struct frontier *frontier = capture ? frontier_add(&capture->streams, key) : NULL;
    if (!frontier || frontier_set(frontier, dependencies)) {
        if (frontier)
            frontier_drop(&capture->streams, key);
        if (capture)
            object_delete(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->object.end = capture_ended;
    capture->origin_key = key;
    capture->mode = mode;
    capture->is_blocking = stream_is_blocking(call, stream);
    capture->graph = graph;
    capture->owns_graph = owns_graph;
    capture->before = graph->last;
    open_captures_add(capture);
    graph->is_captured_into = true;
    return CUDA_SUCCESS;
}

/* Whether every captured node has a dependent or is in the frontier of the stream that began the
 * capture. If not, some stream has joined the capture and was not joined back to the first
 * stream. */
static bool is_joined(const struct capture *capture)
{
    const struct frontier *origin = frontier_find(capture->streams, capture->origin_key);
    const struct graph_node *node = capture->before ? capture->before->next : capture->graph->first;
    const uint64_t stamp = graph_stamp();
    for (const struct graph_node *any = capture->graph->first; any; any = any->next)
        for (size_t i = 0; i < any->dependency_count; i++)
            any->dependencies[i]->stamp = stamp;
    for (; node; node = node->next)
        if (node->stamp != stamp && !frontier_contains(origin, node))
            return false;
    return true;
}

static CUresult capture_result(const struct capture *capture)
{
    if (capture->is_invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return is_joined(capture) ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

CUresult capture_end(const struct call *call, CUstream stream, CUgraph *handle)
{
    struct capture *capture = capture_of(call, stream);
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin_key != stream_key(call, stream))
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && !open_captures_began_here(capture))
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    struct graph *graph = capture->graph;
    const CUresult result = capture_result(capture);
    if (!result)
        capture->owns_graph = false; /* the program owns the graph now */
    object_delete(capture);
    *handle = result ? NULL : (CUgraph)(void *)graph;
    return result;
}
