/* SPDX-License-Identifier: MIT */
/*
 * Questions to the driver that belong to a hooked call, and the events that hold the answers:
 * free memory, a pool's reserved bytes, the first look at a context. It must not decide what is
 * recorded. Each is called on the calling thread between hooked_call_begin and hooked_call_leave.
 */
#ifndef GPUMEMTRACE_INTERPOSE_HOOK_SAMPLING_H
#define GPUMEMTRACE_INTERPOSE_HOOK_SAMPLING_H

#include "hooked_call.h"

/* cuMemGetInfo as a child of the call. */
void sampling_device(struct hooked_call *call, int device);
/* The same before and after calls whose cost only that difference tells: modules and limits. */
void sampling_around(struct hooked_call *call);
/* After an allocation: what the context took, if this is the first look at the device. */
void sampling_context(struct hooked_call *call, const struct event_args *args);
/* The pool an allocation came out of, if its reserved bytes changed: a child of the call. */
void sampling_pool(struct hooked_call *call, const struct event_args *args);
/* After a call that may change what a pool holds: an event of its own if it did. */
void sampling_pool_call(struct hooked_call *call, const struct event_args *args, int result);
/* After a launch, an upload or a trim: one event for each device whose graph pool changed. */
void sampling_graphs(struct hooked_call *call, const struct event_args *args, int result);

#endif
