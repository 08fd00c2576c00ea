/* SPDX-License-Identifier: MIT */
/*
 * The open stream captures: the thread that began each, and the calls it forbids. For the nodes
 * that a capture records see capture.h.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OPEN_CAPTURES_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OPEN_CAPTURES_H

#include "object.h"
#include "api.h"

struct capture {
    struct object object; /* in the context of the stream that began it */
    struct capture *next;
    uint64_t id, origin_key;
    CUstreamCaptureMode mode;
    const void *thread; /* the thread that began it */
    struct graph *graph;
    bool owns_graph, is_invalid;
    bool is_blocking;          /* the capturing stream synchronizes with the legacy stream */
    struct graph_node *before; /* the graph's last node when the capture began */
    struct frontier *streams, *events;
};

/* The head of the list, linked through next. NULL: none is open. */
struct capture *open_captures_first(void);
/* Adds a capture, giving it an id and the calling thread. */
void open_captures_add(struct capture *capture);
void open_captures_remove(struct capture *capture);
bool open_captures_began_here(const struct capture *capture);

/*
 * For a call that is unsafe during stream capture. Invalidates the captures that forbid it:
 * captures of this thread, and global captures of other threads. false: there was one and the call
 * must fail.
 */
bool open_captures_permit(void);
/* Sets this thread's capture mode for such calls; returns the previous one. */
CUstreamCaptureMode open_captures_exchange_mode(CUstreamCaptureMode mode);

#endif
