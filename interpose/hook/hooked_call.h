/* SPDX-License-Identifier: MIT */
/*
 * One hooked call, from entry to return: whether it is recorded, its number and time, and its
 * event. A call inside another call of the same kind on the same thread is part of the outer call
 * (cudaMalloc calls cuMemAlloc). The functions here never call the real function, and never change
 * errno or the result.
 *
 *     noted before the call (a free):      hooked_call_begin → _before → real → _finish
 *     noted after it (an allocation):      hooked_call_begin → real → _after
 *
 * A free takes its number, time and a pending slot before the call, because another thread may get
 * the same address before the call returns. An allocation takes them after the call, because nobody
 * has the address earlier. So the events of one address are always in their true order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "interpose/cuda/device.h"
#include "interpose/recording/event_slot.h"

/* Placeholders for an event's device and object, which are looked up later. device.h has one more
 * placeholder, DEVICE_CURRENT. */
#define DEVICE_BY_ADDRESS DEVICE_UNKNOWN /* the analyzer takes the device from the allocation */
#define OBJECT_CURRENT_CONTEXT UINT64_MAX
#define OBJECT_CURRENT_MEMPOOL (UINT64_MAX - 1)

/* The hooked calls that a thread is in. */
struct open_calls {
    uint64_t guards;     /* kinds of the open calls, one bit each: see hooked_call_guard */
    uintptr_t outermost; /* address of the outermost call's struct hooked_call, on the stack */
    uint32_t count;
    uint16_t call_id; /* the call_id of the outermost call */
    uint8_t has_children;
};

struct hooked_call {
    struct thread *thread;
    struct open_calls *open; /* the open calls of the thread */
    struct ring_slot *slot;  /* pending slot; NULL: noted after the call, or lost */
    enum hook hook;
    enum event_kind kind;
    uint64_t begin_ns;      /* begin of a timed call that is noted after it; 0: not timed */
    uint64_t guards_before; /* open->guards and open->count before this call */
    uint32_t count_before;
};

/* Is an event of this kind noted before the real call? */
static inline bool hooked_call_is_noted_before(enum event_kind kind)
{
    return kind == EVENT_FREE || kind == EVENT_UNMAP || kind == EVENT_UNBIND ||
           kind == EVENT_POOL_DESTROY || kind == EVENT_CONTEXT_DESTROY ||
           kind == EVENT_MODULE_UNLOAD || kind == EVENT_GRAPH_DESTROY;
}

/* Each kind of event has one bit, but allocations and frees have one bit for each memory account.
 * So a cuMemAlloc or cuMemCreate inside a cudaMalloc is part of the cudaMalloc, but a
 * cuMemHostAlloc inside it is not. */
static inline uint64_t hooked_call_guard(enum event_kind kind, enum memory_kind memory)
{
    if (kind == EVENT_ALLOC)
        return UINT64_C(1) << (EVENT_KIND_COUNT + account_kind(memory));
    if (kind == EVENT_FREE)
        return UINT64_C(1) << (EVENT_KIND_COUNT + ACCOUNT_COUNT + account_kind(memory));
    return UINT64_C(1) << kind;
}

_Static_assert(EVENT_KIND_COUNT + 2 * ACCOUNT_COUNT <= 64, "one word of guards a thread");

/* Does the work of hooked_call_begin, with a guard that the compiler computes from the hook's
 * constants. */
bool hooked_call_enter(struct hooked_call *call, enum hook hook, enum event_kind kind,
                       uint64_t guard);

/* Returns false if nothing is recorded, or if the call is part of an outer call. In that case the
 * caller must use no other function of this file for the call. The first call in a process starts
 * the recording. */
static inline bool hooked_call_begin(struct hooked_call *call, enum hook hook, enum event_kind kind,
                                     enum memory_kind memory)
{
    if (!hooked_call_enter(call, hook, kind, hooked_call_guard(kind, memory)))
        return false;
    if (record_is_timed(kind, memory) && !hooked_call_is_noted_before(kind))
        call->begin_ns = event_slot_now(call->thread);
    return true;
}

/* Records the event after the call. Also replaces the placeholders in *args. Keeps errno. */
void hooked_call_after(struct hooked_call *call, struct event_args *args, int result);

/* These two functions are for a call that makes several events. After the call, use
 * hooked_call_store once for each event, and at last hooked_call_leave. For one event,
 * hooked_call_after does both. */
void hooked_call_store(struct hooked_call *call, const struct event_args *args, int result);
static inline void hooked_call_leave(const struct hooked_call *call)
{
    call->open->guards = call->guards_before;
    call->open->count = call->count_before;
}
/* Records an event inside the call, without a stack. */
void hooked_call_child(struct hooked_call *call, const struct event_args *args);

/* --- inlined into each hook with the constants of its row --- */

/* The event of a hooked call and the events inside that call get the same call_id. */
static inline void hooked_call_number(struct ring_slot *slot, struct open_calls *open)
{
    slot->nested = open->count > 1;
    if (slot->nested)
        open->has_children = 1;
    slot->call_id = open->has_children ? open->call_id : 0;
}

/* Nanoseconds since begin_ns; at least 1, because 0 stands for calls that are not timed. */
static inline uint64_t hooked_call_duration(const struct hooked_call *call, uint64_t begin_ns)
{
    const uint64_t end_ns = event_slot_now(call->thread);
    return end_ns > begin_ns ? end_ns - begin_ns : 1;
}

/* Returns the device of the calling thread. Keeps errno. */
int hooked_call_device(struct hooked_call *call);

static GMT_ALWAYS_INLINE void hooked_call_before(struct hooked_call *call,
                                                 const struct event_args *args)
{
    struct event_args known = *args;
    if (known.device == DEVICE_CURRENT)
        known.device = hooked_call_device(call);
    /* A free of NULL is not recorded. */
    struct ring_slot *slot =
        known.kind != EVENT_FREE || known.address ? event_slot_claim(call->thread) : NULL;
    call->slot = slot;
    if (!slot)
        return;
    event_slot_fill(slot, call->hook, &known);
    /* Release, so that the reader of a killed process's ring sees a filled slot. */
    atomic_store_explicit(&slot->state, SLOT_PENDING, memory_order_release);
}

/* Call it after a call that ends a context, unloads a module or destroys a graph. */
void hooked_call_finish_watched(struct hooked_call *call);

/* args: the arguments as they were before the call. keep: false if the call did nothing that must
 * be recorded. */
static GMT_ALWAYS_INLINE void
hooked_call_finish(struct hooked_call *call, const struct event_args *args, int result, bool keep)
{
    struct ring_slot *slot = call->slot;
    if (slot) {
        if (!keep)
            slot->kind = EVENT_NONE;
        slot->result = (int16_t)result;
        hooked_call_number(slot, call->open);
        /* The time is read last. Reading the counter waits for the locked instructions of the real
         * call, and in this order the stores above do not have to wait. */
        if (record_is_timed(args->kind, args->memory))
            slot->stream = hooked_call_duration(call, slot->time_ns);
        ring_publish(slot);
    }
    if (args->kind == EVENT_CONTEXT_DESTROY || args->kind == EVENT_MODULE_UNLOAD ||
        args->kind == EVENT_GRAPH_DESTROY)
        hooked_call_finish_watched(call);
    hooked_call_leave(call);
}
