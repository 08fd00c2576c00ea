/* SPDX-License-Identifier: MIT */
/*
 * One hooked call, from entry to return: is it an event, which number and time, what is stored. A
 * call inside another of the same kind on the same thread (cudaMalloc makes a cuMemAlloc) is part
 * of the outer one. It must not call the real function, nor change errno or what it returned.
 *
 *     noted before the call (a free):      hooked_call_begin → _before → real → _finish
 *     noted after it (an allocation):      hooked_call_begin → real → _after
 *
 * A free takes number, time and a pending slot first: another thread may get the same address back
 * before the real call returns. An allocation takes them after: nobody has the address earlier. So
 * the events of one address are always in their true order.
 */
#ifndef GPUMEMTRACE_INTERPOSE_HOOK_HOOKED_CALL_H
#define GPUMEMTRACE_INTERPOSE_HOOK_HOOKED_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/cuda/device.h"
#include "interpose/recording/event_slot.h"

/* Special values of an event's device and object, until they are looked up. DEVICE_CURRENT is
 * another, see device.h. */
#define DEVICE_BY_ADDRESS DEVICE_UNKNOWN /* the analyzer knows it from the allocation */
#define OBJECT_CURRENT_CONTEXT UINT64_MAX
#define OBJECT_CURRENT_MEMPOOL (UINT64_MAX - 1)

/* What a thread is inside of. */
struct open_calls {
    uint64_t guards;     /* a bit each, see hooked_call.c */
    uintptr_t outermost; /* where on the stack the outermost of them is noted */
    uint32_t count;
    uint16_t call_id; /* of the outermost one */
    uint8_t has_children;
};

struct hooked_call {
    struct thread *thread;
    struct open_calls *open; /* the thread's */
    struct ring_slot *slot;  /* pending; NULL if noted after the call, or lost */
    enum hook hook;
    enum event_kind kind;
    uint64_t guards_before; /* open->guards and open->count outside it */
    uint32_t count_before;
};

/* Is an event of this kind noted before the real call? */
static inline bool hooked_call_is_noted_before(enum event_kind kind)
{
    return kind == EVENT_FREE || kind == EVENT_UNMAP || kind == EVENT_UNBIND ||
           kind == EVENT_POOL_DESTROY || kind == EVENT_CONTEXT_DESTROY ||
           kind == EVENT_MODULE_UNLOAD;
}

/* false: not recording, or part of an outer call; then nothing else is to be called. The first call
 * of a process starts the recording. */
bool hooked_call_begin(struct hooked_call *call, enum hook hook, enum event_kind kind,
                       enum memory_kind memory);
void hooked_call_before(struct hooked_call *call, const struct event_args *args);
/* keep false: it turned out to be no event. */
void hooked_call_finish(struct hooked_call *call, int result, bool keep);
void hooked_call_after(struct hooked_call *call, const struct event_args *args, int result);

/* For a call that stands for several events: one event after the call, any number of times, then
 * hooked_call_leave. hooked_call_after is one and leaves. */
void hooked_call_store(struct hooked_call *call, const struct event_args *args, int result);
void hooked_call_leave(struct hooked_call *call);
/* An event inside the call, without a stack of its own. */
void hooked_call_child(struct hooked_call *call, const struct event_args *args);

#endif
