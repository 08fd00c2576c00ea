/* SPDX-License-Identifier: MIT */
/*
 * From a hooked call to a ring slot. See capture.h.
 */
#include "capture.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "call_stack.h"
#include "device.h"
#include "recorder.h"

#define GRANULE_BYTES ((uint64_t)2 << 20) /* what a small allocation takes from the device */

/* --- entering and leaving ------------------------------------------------------------------------
 */

bool capture_begin(struct capture *capture, enum hook hook, enum event_kind kind)
{
    struct thread *thread = thread_current();
    if (GMT_UNLIKELY(!thread) && recorder_start())
        thread = thread_current();
    if (!thread || thread->open_kinds & 1u << kind)
        return false;
    *capture = (struct capture){.thread = thread, .hook = hook, .kind = kind};
    thread->open_kinds |= 1u << kind;
    if (thread->open_calls++ == 0) {
        thread->call_id++;
        thread->call_has_children = 0;
        if (thread->call_id == 0) /* 0 says: nothing happened inside */
            thread->call_id = 1;
    }
    return true;
}

static void leave(struct capture *capture)
{
    capture->thread->open_kinds &= ~(1u << capture->kind);
    capture->thread->open_calls--;
}

/* --- slots
 * ---------------------------------------------------------------------------------------- */

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
        slot->time_ns = recorder_now_ns();
    }
    return slot;
}

/* --- before the call
 * ------------------------------------------------------------------------------ */

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
    leave(capture);
    errno = saved_errno;
}

/* --- after the call
 * -------------------------------------------------------------------------------- */

/* A child of the call that is being captured. */
static void emit_child(struct capture *capture, const struct capture_facts *facts)
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

static void sample_device(struct capture *capture, int device)
{
    struct device_memory memory;
    if (!device_memory(&memory))
        return;
    const struct capture_facts facts = {.kind = EVENT_DEVICE_MEMORY,
                                        .device = device,
                                        .address = memory.free_bytes,
                                        .size_bytes = memory.total_bytes};
    emit_child(capture, &facts);
}

/* What the context took: the device's used bytes right after its first allocation, less that. */
static void measure_context(struct capture *capture, const struct capture_facts *facts, int device)
{
    struct device_memory memory;
    const uint64_t account_device = facts->memory == MEMORY_LINEAR ||
                                    facts->memory == MEMORY_PITCHED ||
                                    facts->memory == MEMORY_ASYNC || facts->memory == MEMORY_VMM;
    const uint64_t own =
        account_device ? (facts->size_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES
                       : 0;
    if (!device_memory(&memory) || memory.total_bytes - memory.free_bytes < own)
        return;
    const struct ring_slot record = {.seq = (uint64_t)device,
                                     .size_bytes = memory.total_bytes - memory.free_bytes - own};
    thread_define(capture->thread, SLOT_CONTEXT, &record, NULL, 0);
}

/* Is this reserved size new for the pool? One word a pool: a collision only costs an event. */
static bool reserved_changed(uint64_t pool, uint64_t reserved_bytes)
{
    static _Atomic uint64_t last[64];
    const uint64_t word = pool * 0x9e3779b97f4a7c15u ^ reserved_bytes;
    return atomic_exchange_explicit(&last[(pool >> 6) & 63], word, memory_order_relaxed) != word;
}

static void sample_pool(struct capture *capture, const struct capture_facts *facts)
{
    struct device_pool_usage usage;
    if (!device_pool_usage(facts->object, &usage) ||
        !reserved_changed(facts->object, usage.reserved_bytes))
        return;
    const struct capture_facts sample = {.kind = EVENT_POOL_USAGE,
                                         .device = facts->device,
                                         .address = usage.used_bytes,
                                         .size_bytes = usage.reserved_bytes,
                                         .object = facts->object};
    emit_child(capture, &sample);
}

static void store_after(struct capture *capture, const struct capture_facts *facts, int result)
{
    struct thread *thread = capture->thread;
    const uint32_t stack_id = call_stack_take(thread);
    struct ring_slot *slot = claim_numbered(thread);
    if (!slot)
        return;
    fill(slot, capture->hook, facts);
    slot->stack_id = stack_id;
    slot->result = (int16_t)result;
    number_call(slot, thread);
    ring_publish(slot);
}

void capture_after(struct capture *capture, const struct capture_facts *facts, int result)
{
    const int saved_errno = errno;
    struct capture_facts known = *facts;
    /* Zero bytes that give NULL are no event. */
    if (known.kind != EVENT_ALLOC || result != 0 || known.address) {
        if (known.device == CAPTURE_CURRENT_DEVICE)
            known.device = device_current(capture->thread);
        known.object = resolve_object(capture->thread, known.object, known.device);
        const bool first = device_introduce(capture->thread, known.device);
        if (first && result == 0 && known.kind == EVENT_ALLOC)
            measure_context(capture, &known, known.device);
        if (result != 0 && known.kind == EVENT_ALLOC)
            sample_device(capture, known.device);
        if (known.memory == MEMORY_ASYNC && result == 0)
            sample_pool(capture, &known);
        store_after(capture, &known, result);
    }
    leave(capture);
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
