/* SPDX-License-Identifier: MIT */
/*
 * Takes samples from the driver during a hooked call, and records them as events: free memory, the
 * reserved bytes of a mempool, and the first sample after a context was created. Call these
 * functions between hooked_call_begin and hooked_call_leave.
 */
#pragma once

#include "gpumemtrace/compiler.h"
#include "hooked_call.h"

/* Records the result of cuMemGetInfo as an event inside the call. */
void sampling_device(struct hooked_call *call, int device);
/* Does the same as sampling_device for the current device. Keeps errno. It is used before and after
 * calls whose cost shows only in free memory: calls that load or unload modules or set limits. */
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
/* Call it after an allocation. Samples the device if the next sample is due, or if no sample was
 * taken yet. The first sample tells the size of the context. */
void sampling_context(struct hooked_call *call, const struct event_args *args);
/* Records the reserved bytes of the allocation's mempool as an event inside the call, if they
 * changed. */
void sampling_mempool(struct hooked_call *call, const struct event_args *args);
/* Does the same for the device's current mempool, if it was sampled before. Call it after a refused
 * allocation, because a mempool gives memory back without a call, when a stream is synchronized. */
void sampling_current_mempool(struct hooked_call *call, int device);
/* Call it after a call that may change a mempool's reserved bytes. Records that call if the bytes
 * changed. */
void sampling_mempool_call(struct hooked_call *call, const struct event_args *args, int result);
/* Call it after a launch, an upload or a trim. Records an event for each device whose graph pool
 * changed, or the failure if memory ran out. */
void sampling_graphs(struct hooked_call *call, const struct event_args *args, int result);
/* Call it after a graph was destroyed. Records an event inside the call for each device whose graph
 * pool changed, because the memory of a destroyed graph stays in the pool, unused. */
void sampling_graph_end(struct hooked_call *call);
