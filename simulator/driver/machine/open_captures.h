/* SPDX-License-Identifier: MIT */
/*
 * The open stream captures: which thread began each capture, and which calls a capture forbids. See
 * capture.h for the nodes that a capture records.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

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

/* Returns the head of the list of open captures, which `next` links. NULL: no capture is open. */
struct capture *open_captures_first(void);
/* Adds a capture, giving it an id and the calling thread. */
void open_captures_add(struct capture *capture);
void open_captures_remove(struct capture *capture);
bool open_captures_began_here(const struct capture *capture);

/*
 * Call it for an API call that is unsafe during stream capture. It invalidates the captures that
 * forbid the API call: captures of this thread, and global captures of other threads. Returns false
 * if there was such a capture; in that case the API call must fail.
 */
bool open_captures_permit(void);
/* Sets this thread's capture mode for such calls, and returns the previous mode. */
CUstreamCaptureMode open_captures_exchange_mode(CUstreamCaptureMode mode);
