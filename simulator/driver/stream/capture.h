/* SPDX-License-Identifier: MIT */
/*
 * Stream capture: work submitted to a captured stream becomes nodes of a graph and is not executed.
 * Another stream joins a capture by waiting for an event recorded in one of its streams.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "simulator/driver/machine/call.h"
#include "frontier.h"
#include "simulator/driver/machine/open_captures.h"

/* Returns the capture that the stream belongs to; NULL: none. */
struct capture *capture_of(const struct call *call, CUstream stream);
/* Adds a node that depends on the last nodes of the stream. A failure invalidates the capture. */
CUresult capture_add(struct capture *capture, const struct call *call, CUstream stream,
                     CUgraphNodeParams *parameters);

/*
 * Called before work is submitted to a stream. Returns true if the caller must do the work. Returns
 * false if the work has become a node, or if the call has failed and its result is set. `work`
 * describes the node; NULL: the work cannot be captured.
 */
bool capture_lets_through(struct call *call, CUstream stream, CUgraphNodeParams *work);
/* Records an event, identified by its key, in a captured stream. */
void capture_note_event(struct capture *capture, const struct call *call, CUstream stream,
                        uint64_t event_key);
/* Returns the open capture in which the event was last recorded; NULL: none. */
struct capture *capture_of_event(uint64_t event_key);
/* Lets the stream, which waits for the event, join the event's capture. */
CUresult capture_join(struct capture *capture, const struct call *call, CUstream stream,
                      uint64_t event_key);
void capture_forget_event(uint64_t event_key);
void capture_invalidate(struct capture *capture);

/* Returns the nodes that the next node of a captured stream will depend on. */
struct frontier *capture_frontier(const struct capture *capture, const struct call *call,
                                  CUstream stream);
/* Returns the capture that work in the legacy stream would have to wait for; NULL: there is none,
 * or this stream is not the legacy stream. */
struct capture *capture_behind_legacy(const struct call *call, CUstream stream);
CUresult capture_begin(const struct call *call, CUstream stream, struct graph *graph,
                       bool owns_graph, struct graph_nodes dependencies, CUstreamCaptureMode mode);
/* Ends the capture; must be called from the thread and for the stream that began it. */
CUresult capture_end(const struct call *call, CUstream stream, CUgraph *graph);
