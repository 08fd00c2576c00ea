/* SPDX-License-Identifier: MIT */
/*
 * The captures that are open: who began each, and which calls it forbids. What a capture makes of
 * the work in its streams is capture.h's; it must not know that.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OPEN_CAPTURES_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OPEN_CAPTURES_H

#include "object.h"
#include "api.h"

struct capture {
    struct object object; /* of the context of the stream that began it */
    struct capture *next;
    uint64_t id, origin_key;
    CUstreamCaptureMode mode;
    const void *thread; /* the mark of the one that began it */
    struct graph *graph;
    bool owns_graph, is_invalid;
    bool is_blocking;          /* the legacy stream waits for it */
    struct graph_node *before; /* the last node that was there already */
    struct frontier *streams, *events;
};

/* NULL: none is open. The others follow through next. */
struct capture *open_captures_first(void);
/* Gives it an id and the calling thread's mark. */
void open_captures_add(struct capture *capture);
void open_captures_remove(struct capture *capture);
bool open_captures_began_here(const struct capture *capture);

/*
 * Before a call whose effect a capture in this thread, or a global one in another, would miss: such
 * captures become invalid. false: there is one, the call is to fail.
 */
bool open_captures_permit(void);
/* How this thread wants to be kept from such calls; returns how it was. */
CUstreamCaptureMode open_captures_exchange_mode(CUstreamCaptureMode mode);

#endif
