/* SPDX-License-Identifier: MIT */
/*
 * Questions to the driver that belong to a hooked call, and the events with the answers: free
 * memory, reserved bytes of a mempool, the first look at a context. It must not decide whether the
 * call itself is an event. To be called between hooked_call_begin and hooked_call_leave.
 */
#ifndef GPUMEMTRACE_INTERPOSE_HOOK_SAMPLING_H
#define GPUMEMTRACE_INTERPOSE_HOOK_SAMPLING_H

#include "gpumemtrace/compiler.h"
#include "hooked_call.h"

/* cuMemGetInfo, as an event inside the call. */
void sampling_device(struct hooked_call *call, int device);
/* The same, before and after the calls whose cost shows only there: modules and limits. */
void sampling_current_device(struct hooked_call *call);
static inline bool sampling_is_around(enum event_kind kind)
{
    return kind == EVENT_MODULE_LOAD || kind == EVENT_MODULE_UNLOAD || kind == EVENT_LIMIT;
}
static inline void sampling_around(struct hooked_call *call)
{
    if (GMT_UNLIKELY(sampling_is_around(call->kind)))
        sampling_current_device(call);
}
/* After an allocation: what the context took, if nobody has looked at the device yet. */
void sampling_context(struct hooked_call *call, const struct event_args *args);
/* The mempool of an allocation, if its reserved bytes changed: an event inside the call. */
void sampling_mempool(struct hooked_call *call, const struct event_args *args);
/* After a call that may change what a mempool holds: the event of the call, if it did. */
void sampling_mempool_call(struct hooked_call *call, const struct event_args *args, int result);
/* After a launch, an upload or a trim: an event for each device whose graph pool changed. */
void sampling_graphs(struct hooked_call *call, const struct event_args *args, int result);

#endif
