/* SPDX-License-Identifier: MIT */
/*
 * Stream capture: while it lasts, what is asked of the stream becomes nodes of a graph and is not
 * done. Other streams join in by waiting for an event that was recorded in a captured one.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_WORK_CAPTURE_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_WORK_CAPTURE_H

#include "simulator/driver/machine/call.h"
#include "frontier.h"
#include "simulator/driver/machine/open_captures.h"

/* The capture this stream takes part in; NULL: none. */
struct capture *capture_of(const struct call *call, CUstream stream);
/* Adds a node to it, after what the stream has done last. Failing, the capture is no longer valid.
 */
CUresult capture_add(struct capture *capture, const struct call *call, CUstream stream,
                     CUgraphNodeParams *parameters);

/*
 * Before work is done in a stream. true: the caller is to do it. false: it has become a node, or
 * the result is set. `work` describes the node; NULL: what no capture can hold.
 */
bool capture_lets_through(struct call *call, CUstream stream, CUgraphNodeParams *work);
/* Events, by a number of their own. */
void capture_note_event(struct capture *capture, const struct call *call, CUstream stream,
                        uint64_t event_key);
/* The capture, still open, in which the event was recorded last; NULL: none. */
struct capture *capture_of_event(uint64_t event_key);
/* The stream waits for the event: it joins the event's capture. */
CUresult capture_join(struct capture *capture, const struct call *call, CUstream stream,
                      uint64_t event_key);
void capture_forget_event(uint64_t event_key);
void capture_invalidate(struct capture *capture);

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

#endif
