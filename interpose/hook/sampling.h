/* SPDX-License-Identifier: MIT */
/*
 * Samples that the driver gives during a hooked call, as events: free memory, reserved bytes of a
 * mempool, the first sample with a context. Call these functions between hooked_call_begin and
 * hooked_call_leave.
 */
#ifndef GPUMEMTRACE_INTERPOSE_HOOK_SAMPLING_H
#define GPUMEMTRACE_INTERPOSE_HOOK_SAMPLING_H

#include "gpumemtrace/compiler.h"
#include "hooked_call.h"

/* Records the result of cuMemGetInfo as an event inside the call. */
void sampling_device(struct hooked_call *call, int device);
/* The same for the current device. Keeps errno. Used before and after calls whose cost shows only
 * in free memory: modules and limits. */
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
/* After an allocation: samples the device if no sample was taken yet, which tells the size of the
 * context, or if the next sample is due. */
void sampling_context(struct hooked_call *call, const struct event_args *args);
/* Records the reserved bytes of the allocation's mempool as an event inside the call, if they
 * changed. */
void sampling_mempool(struct hooked_call *call, const struct event_args *args);
/* After a call that may change a mempool's reserved bytes: records the call if they changed. */
void sampling_mempool_call(struct hooked_call *call, const struct event_args *args, int result);
/* After a launch, an upload or a trim: records an event for each device whose graph pool changed,
 * or the failure if memory ran out. */
void sampling_graphs(struct hooked_call *call, const struct event_args *args, int result);

#endif
