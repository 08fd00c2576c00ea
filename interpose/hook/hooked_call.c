/* SPDX-License-Identifier: MIT */
/*
 * From a hooked call to a ring slot. See hooked_call.h.
 */
#include "hooked_call.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "graphs.h"
#include "interpose/life/exit_moment.h"
#include "interpose/life/start.h"
#include "interpose/stack/take/call_stack.h"
#include "sampling.h"

static struct thread_part part = THREAD_PART(struct open_calls, sizeof(struct open_calls));

/* --- entering and leaving --- */

/* A signal handler may have jumped out of a call, which then never ends: a call that is noted
 * further out on the stack, or at the same address, is not inside it. */
static void notice_jump(struct open_calls *open, const struct hooked_call *call)
{
    if (GMT_LIKELY(!open->count) || (uintptr_t)call < open->outermost)
        return;
    open->guards = 0;
    open->count = 0;
}

static void enter_outermost(struct open_calls *open, const struct hooked_call *call)
{
    exit_moment_watch(call->kind);
    open->outermost = (uintptr_t)call;
    open->has_children = 0;
    if (++open->call_id == 0) /* 0 in an event: nothing happened inside the call */
        open->call_id = 1;
}

/* Not inlined: its calls would cost every event registers that have to be saved. */
static GMT_NOINLINE struct thread *first_call(void)
{
    struct thread *thread = thread_current();
    return !thread && recording_start() ? thread_current() : thread;
}

bool hooked_call_enter(struct hooked_call *call, enum hook hook, enum event_kind kind,
                       uint64_t guard)
{
    struct thread *thread = thread_self;
    if (GMT_UNLIKELY(!thread_is_current(thread)) && !(thread = first_call()))
        return false;
    struct open_calls *open = thread_part(thread, &part);
    notice_jump(open, call);
    if (open->guards & guard)
        return false;
    *call = (struct hooked_call){.thread = thread,
                                 .open = open,
                                 .hook = hook,
                                 .kind = kind,
                                 .guards_before = open->guards,
                                 .count_before = open->count};
    open->guards |= guard;
    if (open->count++ == 0)
        enter_outermost(open, call);
    sampling_around(call);
    return true;
}

void hooked_call_leave(struct hooked_call *call)
{
    call->open->guards = call->guards_before;
    call->open->count = call->count_before;
}

/* --- slots --- */

/* Call after device_current, which remembers the current context. */
static uint64_t resolve_object(struct thread *thread, uint64_t object, int device)
{
    if (object == OBJECT_CURRENT_CONTEXT)
        return device == DEVICE_UNKNOWN ? 0 : device_current_context(thread);
    return object == OBJECT_CURRENT_MEMPOOL ? device_mempool(device) : object;
}

/* An event inside a hooked call, and the event of that call, get the same call_id. */
static void number_call(struct ring_slot *slot, struct open_calls *open)
{
    slot->nested = open->count > 1;
    if (slot->nested)
        open->has_children = 1;
    slot->call_id = slot->nested || open->has_children ? open->call_id : 0;
}

/* --- before the call --- */

static int device_current_keeping_errno(struct thread *thread)
{
    const int saved_errno = errno;
    const int device = device_current(thread);
    errno = saved_errno;
    return device;
}

void hooked_call_before(struct hooked_call *call, struct event_args *args)
{
    if (args->device == DEVICE_CURRENT)
        args->device = device_current_keeping_errno(call->thread);
    /* Freeing nothing is no event. */
    if (args->kind != EVENT_FREE || args->address)
        call->slot = event_slot_claim(call->thread);
    if (call->slot) {
        event_slot_fill(call->slot, call->hook, args);
        /* Release: whoever folds the ring of a killed process sees a filled slot. */
        atomic_store_explicit(&call->slot->state, SLOT_PENDING, memory_order_release);
    }
}

/* Never 0, which is for calls that are not timed. */
static uint64_t duration_since(const struct hooked_call *call, uint64_t begin_ns)
{
    const uint64_t end_ns = event_slot_now(call->thread);
    return end_ns > begin_ns ? end_ns - begin_ns : 1;
}

void hooked_call_finish(struct hooked_call *call, int result, bool keep)
{
    if (call->slot) {
        if (record_is_timed(call->slot->kind, call->slot->memory))
            call->slot->stream = duration_since(call, call->slot->time_ns);
        if (!keep)
            call->slot->kind = EVENT_NONE;
        call->slot->result = (int16_t)result;
        number_call(call->slot, call->open);
        ring_publish(call->slot);
    }
    if (call->kind == EVENT_CONTEXT_DESTROY)
        device_forget_contexts();
    sampling_around(call);
    hooked_call_leave(call);
}

/* --- after the call --- */

void hooked_call_child(struct hooked_call *call, const struct event_args *args)
{
    struct ring_slot *slot = event_slot_claim(call->thread);
    if (!slot)
        return;
    event_slot_fill(slot, call->hook, args);
    call->open->count++;
    number_call(slot, call->open);
    call->open->count--;
    ring_publish(slot);
}

/* The stack was taken by the caller: frames of ours between would be unwound each time. */
static void store_event(struct hooked_call *call, const struct event_args *args, uint32_t stack_id,
                        int result)
{
    struct ring_slot *slot = event_slot_claim(call->thread);
    if (!slot)
        return;
    event_slot_fill(slot, call->hook, args);
    slot->stack_id = stack_id;
    slot->result = (int16_t)result;
    number_call(slot, call->open);
    ring_publish(slot);
}

void hooked_call_store(struct hooked_call *call, const struct event_args *args, int result)
{
    store_event(call, args, call_stack_take(call->thread), result);
}

/* In a stream that is captured, a stream-ordered allocation becomes a node of the graph. */
static enum memory_kind memory_of_allocation(const struct event_args *args)
{
    if (args->memory == MEMORY_ASYNC && graphs_is_capturing(args->stream))
        return MEMORY_GRAPH_NODE;
    return args->memory;
}

static void after_allocation(struct hooked_call *call, const struct event_args *args, int result)
{
    if (result != 0) {
        sampling_device(call, args->device);
        return;
    }
    if (args->memory == MEMORY_GRAPH_NODE)
        graphs_expect_memory(args->device);
    sampling_context(call, args);
    if (args->memory == MEMORY_ASYNC)
        sampling_mempool(call, args);
}

static void after_other_call(struct hooked_call *call, struct event_args *args, int result)
{
    const uint64_t duration_ns = call->begin_ns ? duration_since(call, call->begin_ns) : 0;
    /* An allocation of zero bytes that returns NULL is no event. */
    if (args->kind == EVENT_ALLOC && result == 0 && !args->address)
        return;
    if (args->device == DEVICE_CURRENT)
        args->device = device_current(call->thread);
    args->object = resolve_object(call->thread, args->object, args->device);
    if (args->kind == EVENT_ALLOC && result == 0)
        args->memory = memory_of_allocation(args);
    device_introduce(call->thread, args->device);
    if (args->kind == EVENT_ALLOC)
        after_allocation(call, args, result);
    sampling_around(call);
    if (record_is_timed(args->kind, args->memory))
        args->stream = duration_ns;
    store_event(call, args, call_stack_take(call->thread), result);
}

void hooked_call_after(struct hooked_call *call, struct event_args *args, int result)
{
    const int saved_errno = errno;
    if (args->kind != EVENT_POOL_USAGE)
        after_other_call(call, args, result);
    else if (args->memory == MEMORY_GRAPH)
        sampling_graphs(call, args, result);
    else
        sampling_mempool_call(call, args, result);
    hooked_call_leave(call);
    errno = saved_errno;
}
