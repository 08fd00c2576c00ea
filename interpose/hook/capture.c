/* SPDX-License-Identifier: MIT */
/*
 * From a hooked call to a ring slot. See capture.h.
 */
#include "capture.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "interpose/stack/call_stack.h"
#include "device.h"
#include "graphs.h"
#include "interpose/life/recorder.h"
#include "sampling.h"

/* --- entering and leaving --- */

/* What a thread is inside of, a bit each: an event kind; for allocations and frees also whose
 * account. So a cuMemAlloc, or a cuMemCreate, inside a cudaMalloc is part of it, and a
 * cuMemHostAlloc there is not. */
static uint64_t guard_bit(enum event_kind kind, enum memory_kind memory)
{
    if (kind == EVENT_ALLOC)
        return UINT64_C(1) << (EVENT_KIND_COUNT + memory_account(memory));
    if (kind == EVENT_FREE)
        return UINT64_C(1) << (EVENT_KIND_COUNT + ACCOUNT_COUNT + memory_account(memory));
    return UINT64_C(1) << kind;
}

_Static_assert(EVENT_KIND_COUNT + 2 * ACCOUNT_COUNT <= 64, "one word of guards a thread");

/* A signal handler may have jumped out of a call, which then never ends: a call of the same stack
 * that is further out, or in the same place, is not inside it. */
static void notice_jump(struct thread *thread, const struct capture *capture)
{
    if (GMT_LIKELY(!thread->open_calls) || (uintptr_t)capture < thread->outermost_call)
        return;
    thread->open_guards = 0;
    thread->open_calls = 0;
}

bool capture_begin(struct capture *capture, enum hook hook, enum event_kind kind,
                   enum memory_kind memory)
{
    struct thread *thread = thread_current();
    const uint64_t guard = guard_bit(kind, memory);
    if (GMT_UNLIKELY(!thread) && recorder_start())
        thread = thread_current();
    if (!thread)
        return false;
    notice_jump(thread, capture);
    if (thread->open_guards & guard)
        return false;
    *capture = (struct capture){.thread = thread,
                                .hook = hook,
                                .kind = kind,
                                .guards_before = thread->open_guards,
                                .calls_before = thread->open_calls};
    thread->open_guards |= guard;
    if (thread->open_calls++ == 0) {
        thread->outermost_call = (uintptr_t)capture;
        thread->call_id++;
        thread->call_has_children = 0;
        if (thread->call_id == 0) /* 0 says: nothing happened inside */
            thread->call_id = 1;
    }
    sampling_around(capture);
    return true;
}

void capture_leave(struct capture *capture)
{
    capture->thread->open_guards = capture->guards_before;
    capture->thread->open_calls = capture->calls_before;
}

/* --- slots --- */

/* After the device was asked for: that leaves the current context in the thread's state. */
static uint64_t resolve_object(const struct thread *thread, uint64_t object, int device)
{
    if (object == CAPTURE_CURRENT_CONTEXT)
        return device == DEVICE_UNKNOWN ? 0 : thread->context;
    return object == CAPTURE_CURRENT_POOL ? device_pool(device) : object;
}

static void fill(struct ring_slot *slot, enum hook hook, const struct capture_facts *facts)
{
    slot->type = SLOT_EVENT;
    slot->hook_id = (uint16_t)hook;
    slot->kind = (uint8_t)facts->kind;
    slot->memory = (uint8_t)facts->memory;
    slot->address = facts->address;
    /* SQLite's integers are signed; nothing that large is ever given, only asked for. */
    slot->size_bytes = facts->size_bytes > INT64_MAX ? INT64_MAX : facts->size_bytes;
    slot->object = facts->object;
    slot->stream = facts->stream;
    slot->device = (int8_t)(facts->device >= 0 && facts->device < DEVICE_LIMIT ? facts->device
                                                                               : DEVICE_UNKNOWN);
}

/* An event inside a hooked call, and the call that has such events, carry the same number. */
static void number_call(struct ring_slot *slot, struct thread *thread)
{
    slot->nested = thread->open_calls > 1;
    if (slot->nested)
        thread->call_has_children = 1;
    slot->call_id = slot->nested || thread->call_has_children ? thread->call_id : 0;
}

static struct ring_slot *claim_numbered(struct thread *thread)
{
    struct ring_slot *slot = thread_claim(thread, 1);
    if (slot) {
        slot->seq = recorder_next_seq();
        slot->time_ns = clock_now_ns(&thread->clock) - recorder.start_monotonic_ns;
    }
    return slot;
}

/* --- before the call --- */

void capture_before(struct capture *capture, const struct capture_facts *facts)
{
    const int saved_errno = errno;
    struct capture_facts known = *facts;
    if (known.device == CAPTURE_CURRENT_DEVICE)
        known.device = device_current(capture->thread);
    /* Freeing nothing is no event. */
    if (known.kind != EVENT_FREE || known.address)
        capture->slot = claim_numbered(capture->thread);
    if (capture->slot) {
        fill(capture->slot, capture->hook, &known);
        /* Release: whoever folds the ring of a killed process sees the slot filled. */
        atomic_store_explicit(&capture->slot->state, SLOT_PENDING, memory_order_release);
    }
    errno = saved_errno;
}

void capture_finish(struct capture *capture, int result, bool keep)
{
    const int saved_errno = errno;
    if (capture->slot) {
        if (!keep)
            capture->slot->kind = EVENT_NONE;
        capture->slot->result = (int16_t)result;
        number_call(capture->slot, capture->thread);
        ring_publish(capture->slot);
    }
    if (capture->kind == EVENT_CONTEXT_DESTROY)
        device_forget_contexts();
    sampling_around(capture);
    capture_leave(capture);
    errno = saved_errno;
}

/* --- after the call --- */

void capture_child(struct capture *capture, const struct capture_facts *facts)
{
    struct thread *thread = capture->thread;
    struct ring_slot *slot = claim_numbered(thread);
    if (!slot)
        return;
    fill(slot, capture->hook, facts);
    thread->open_calls++;
    number_call(slot, thread);
    thread->open_calls--;
    ring_publish(slot);
}

/* The stack was taken in a caller: every frame of ours is unwound each time. */
static void store(struct capture *capture, const struct capture_facts *facts, uint32_t stack_id,
                  int result)
{
    struct thread *thread = capture->thread;
    struct ring_slot *slot = claim_numbered(thread);
    if (!slot)
        return;
    fill(slot, capture->hook, facts);
    slot->stack_id = stack_id;
    slot->result = (int16_t)result;
    number_call(slot, thread);
    ring_publish(slot);
}

void capture_store(struct capture *capture, const struct capture_facts *facts, int result)
{
    store(capture, facts, call_stack_take(capture->thread), result);
}

/* In a stream that is being captured a stream-ordered allocation becomes a node of the graph. */
static enum memory_kind memory_given(const struct capture_facts *facts)
{
    if (facts->memory == MEMORY_ASYNC && graphs_is_capturing(facts->stream))
        return MEMORY_GRAPH_NODE;
    return facts->memory;
}

static void after_allocation(struct capture *capture, const struct capture_facts *facts, int result)
{
    if (result != 0) {
        sampling_device(capture, facts->device);
        return;
    }
    if (facts->memory == MEMORY_GRAPH_NODE)
        graphs_expect_memory(facts->device);
    sampling_context(capture, facts);
    if (facts->memory == MEMORY_ASYNC)
        sampling_pool(capture, facts);
}

static void after_other_call(struct capture *capture, const struct capture_facts *facts, int result)
{
    struct capture_facts known = *facts;
    /* Zero bytes that give NULL are no event. */
    if (known.kind == EVENT_ALLOC && result == 0 && !known.address)
        return;
    if (known.device == CAPTURE_CURRENT_DEVICE)
        known.device = device_current(capture->thread);
    known.object = resolve_object(capture->thread, known.object, known.device);
    if (known.kind == EVENT_ALLOC && result == 0)
        known.memory = memory_given(&known);
    device_introduce(capture->thread, known.device);
    if (known.kind == EVENT_ALLOC)
        after_allocation(capture, &known, result);
    sampling_around(capture);
    store(capture, &known, call_stack_take(capture->thread), result);
}

void capture_after(struct capture *capture, const struct capture_facts *facts, int result)
{
    const int saved_errno = errno;
    if (facts->kind != EVENT_POOL_USAGE)
        after_other_call(capture, facts, result);
    else if (facts->memory == MEMORY_GRAPH)
        sampling_graphs(capture, facts, result);
    else
        sampling_pool_call(capture, facts, result);
    capture_leave(capture);
    errno = saved_errno;
}

void capture_event(struct thread *thread, enum hook hook, const struct capture_facts *facts)
{
    const int saved_errno = errno;
    struct ring_slot *slot = claim_numbered(thread);
    if (slot) {
        fill(slot, hook, facts);
        ring_publish(slot);
    }
    errno = saved_errno;
}
