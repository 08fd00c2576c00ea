/* SPDX-License-Identifier: MIT */
/*
 * One hooked call, from entry to return: whether it is an event, its number and time, what is
 * stored. A call inside another of the same kind on the same thread (cudaMalloc calls cuMemAlloc)
 * is part of the outer one. It must not call the real function, nor change errno or what that
 * returned.
 *
 *     noted before the call (a free):      hooked_call_begin → _before → real → _finish
 *     noted after it (an allocation):      hooked_call_begin → real → _after
 *
 * A free takes number, time and a pending slot before the call: another thread may be given the
 * same address before it returns. An allocation takes them after it: nobody has the address
 * earlier. So the events of one address are always in their true order.
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

/* The hooked calls that a thread is inside of. */
struct open_calls {
    uint64_t guards;     /* their kinds, a bit each: see hooked_call_guard */
    uintptr_t outermost; /* address of the outermost one, on the thread's stack */
    uint32_t count;
    uint16_t call_id; /* of the outermost one */
    uint8_t has_children;
};

struct hooked_call {
    struct thread *thread;
    struct open_calls *open; /* the thread's */
    struct ring_slot *slot;  /* pending; NULL: noted after the call, or lost */
    enum hook hook;
    enum event_kind kind;
    uint64_t begin_ns;      /* of a timed call that is noted after it; 0: it is not timed */
    uint64_t guards_before; /* open->guards and open->count outside this call */
    uint32_t count_before;
};

/* Is an event of this kind noted before the real call? */
static inline bool hooked_call_is_noted_before(enum event_kind kind)
{
    return kind == EVENT_FREE || kind == EVENT_UNMAP || kind == EVENT_UNBIND ||
           kind == EVENT_POOL_DESTROY || kind == EVENT_CONTEXT_DESTROY ||
           kind == EVENT_MODULE_UNLOAD || kind == EVENT_GRAPH_DESTROY;
}

/* A bit for each kind of event, and for allocations and frees one for each account. So a cuMemAlloc
 * or cuMemCreate inside a cudaMalloc is part of it, and a cuMemHostAlloc there is not. */
static inline uint64_t hooked_call_guard(enum event_kind kind, enum memory_kind memory)
{
    if (kind == EVENT_ALLOC)
        return UINT64_C(1) << (EVENT_KIND_COUNT + account_kind(memory));
    if (kind == EVENT_FREE)
        return UINT64_C(1) << (EVENT_KIND_COUNT + ACCOUNT_COUNT + account_kind(memory));
    return UINT64_C(1) << kind;
}

_Static_assert(EVENT_KIND_COUNT + 2 * ACCOUNT_COUNT <= 64, "one word of guards a thread");

/* hooked_call_begin, with the guard that a hook's constants give. */
bool hooked_call_enter(struct hooked_call *call, enum hook hook, enum event_kind kind,
                       uint64_t guard);

/* false: nothing is recorded, or the call is part of an outer one; then no other function here may
 * be called for it. The first call in a process starts the recording. */
static inline bool hooked_call_begin(struct hooked_call *call, enum hook hook, enum event_kind kind,
                                     enum memory_kind memory)
{
    if (!hooked_call_enter(call, hook, kind, hooked_call_guard(kind, memory)))
        return false;
    if (record_is_timed(kind, memory) && !hooked_call_is_noted_before(kind))
        call->begin_ns = event_slot_now(call->thread);
    return true;
}

/* Looks up in place what args leave open. */
void hooked_call_after(struct hooked_call *call, struct event_args *args, int result);

/* For a call that makes several events: hooked_call_store after it, once for each, then
 * hooked_call_leave. hooked_call_after does both for one event. */
void hooked_call_store(struct hooked_call *call, const struct event_args *args, int result);
static inline void hooked_call_leave(const struct hooked_call *call)
{
    call->open->guards = call->guards_before;
    call->open->count = call->count_before;
}
/* An event inside the call, without a stack. */
void hooked_call_child(struct hooked_call *call, const struct event_args *args);

/* --- what every call does, in each hook with the constants of its row --- */

/* An event inside a hooked call, and the event of that call, get the same call_id. */
static inline void hooked_call_number(struct ring_slot *slot, struct open_calls *open)
{
    slot->nested = open->count > 1;
    if (slot->nested)
        open->has_children = 1;
    slot->call_id = open->has_children ? open->call_id : 0;
}

/* Never 0, which is for calls that are not timed. */
static inline uint64_t hooked_call_duration(const struct hooked_call *call, uint64_t begin_ns)
{
    const uint64_t end_ns = event_slot_now(call->thread);
    return end_ns > begin_ns ? end_ns - begin_ns : 1;
}

/* The calling thread's device. Keeps errno. */
int hooked_call_device(struct hooked_call *call);

static GMT_ALWAYS_INLINE void hooked_call_before(struct hooked_call *call,
                                                 const struct event_args *args)
{
    struct event_args known = *args;
    if (known.device == DEVICE_CURRENT)
        known.device = hooked_call_device(call);
    /* Freeing nothing is no event. */
    struct ring_slot *slot =
        known.kind != EVENT_FREE || known.address ? event_slot_claim(call->thread) : NULL;
    call->slot = slot;
    if (!slot)
        return;
    event_slot_fill(slot, call->hook, &known);
    /* Release: whoever folds the ring of a killed process sees a filled slot. */
    atomic_store_explicit(&slot->state, SLOT_PENDING, memory_order_release);
}

/* After the end of a call that changes what else is known. */
void hooked_call_finish_watched(struct hooked_call *call);

/* args: as before the call. keep: false if it turned out to be no event. */
static GMT_ALWAYS_INLINE void
hooked_call_finish(struct hooked_call *call, const struct event_args *args, int result, bool keep)
{
    struct ring_slot *slot = call->slot;
    if (slot) {
        if (!keep)
            slot->kind = EVENT_NONE;
        slot->result = (int16_t)result;
        hooked_call_number(slot, call->open);
        /* Last: the counter is read when the locks of the real call are done, and what stands
         * before it need not wait for them. */
        if (record_is_timed(args->kind, args->memory))
            slot->stream = hooked_call_duration(call, slot->time_ns);
        ring_publish(slot);
    }
    if (args->kind == EVENT_CONTEXT_DESTROY || args->kind == EVENT_MODULE_UNLOAD)
        hooked_call_finish_watched(call);
    hooked_call_leave(call);
}

#endif
