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

static GMT_NOINLINE bool enter_for_the_first_time(struct hooked_call *call, enum hook hook,
                                                  enum event_kind kind, uint64_t guard)
{
    struct thread *thread = thread_current();
    if (!thread && recording_start())
        thread = thread_current();
    if (!thread)
        return false;
    thread_part(thread, &part);
    return hooked_call_enter(call, hook, kind, guard);
}

/* The slow path: a Python interpreter is loaded, or this kind of call needs a memory sample before
 * and after the call. */
static GMT_NOINLINE bool enter_watched(struct hooked_call *call)
{
    if (call->count_before == 0)
        exit_moment_watch(call->kind);
    sampling_around(call);
    return true;
}

static inline bool is_watched(enum event_kind kind)
{
    return exit_moment_is_watched() || sampling_is_around(kind);
}

/* Is `call` deeper in the stack than the outermost open call? A signal handler may jump out of a
 * hooked call, and that call never ends. A later call whose struct lies at the same or a higher
 * address is not inside it. */
static inline bool is_inside(const struct open_calls *open, const struct hooked_call *call)
{
    return GMT_UNLIKELY(open->count) && (uintptr_t)call < open->outermost;
}

static inline void begin_outermost(struct open_calls *open, const struct hooked_call *call)
{
    open->outermost = (uintptr_t)call;
    open->has_children = 0;
    if (++open->call_id == 0) /* call_id 0 in an event means that nothing happened inside the
                               * call */
        open->call_id = 1;
}

/* Rare work is done by tail calls, so that this function saves no registers. */
bool hooked_call_enter(struct hooked_call *call, enum hook hook, enum event_kind kind,
                       uint64_t guard)
{
    struct thread *thread = thread_self;
    struct open_calls *open;
    if (GMT_UNLIKELY(!thread_is_current(thread)) || !(open = thread_part_if_placed(thread, &part)))
        return enter_for_the_first_time(call, hook, kind, guard);
    call->guards_before = call->count_before = 0;
    if (is_inside(open, call)) {
        if (open->guards & guard)
            return false;
        call->guards_before = open->guards;
        call->count_before = open->count;
    }
    open->guards = call->guards_before | guard;
    open->count = call->count_before + 1;
    if (call->count_before == 0)
        begin_outermost(open, call);
    call->thread = thread;
    call->open = open;
    call->slot = NULL;
    call->begin_ns = 0;
    call->hook = hook;
    call->kind = kind;
    return GMT_LIKELY(!is_watched(kind)) || enter_watched(call);
}

/* --- slots --- */

/* Call it after device_current, which stores the current context. */
static uint64_t resolve_object(struct thread *thread, uint64_t object, int device)
{
    if (object == OBJECT_CURRENT_CONTEXT)
        return device == DEVICE_UNKNOWN ? 0 : device_current_context(thread);
    return object == OBJECT_CURRENT_MEMPOOL ? device_mempool(device) : object;
}

/* --- before the call --- */

int hooked_call_device(struct hooked_call *call)
{
    const int saved_errno = errno;
    const int device = device_current(call->thread);
    errno = saved_errno;
    return device;
}

void hooked_call_finish_watched(struct hooked_call *call)
{
    if (call->kind == EVENT_CONTEXT_DESTROY)
        device_forget_contexts();
    if (call->kind == EVENT_GRAPH_DESTROY)
        sampling_graph_end(call);
    sampling_around(call);
}

/* --- after the call --- */

void hooked_call_child(struct hooked_call *call, const struct event_args *args)
{
    struct ring_slot *slot = event_slot_claim(call->thread);
    if (!slot)
        return;
    event_slot_fill(slot, call->hook, args);
    call->open->count++;
    hooked_call_number(slot, call->open);
    call->open->count--;
    ring_publish(slot);
}

/* The caller of this function takes the stack, so that the unwinder has fewer of our own frames to
 * step through. */
static void store_event(struct hooked_call *call, const struct event_args *args, uint32_t stack_id,
                        int result)
{
    struct ring_slot *slot = event_slot_claim(call->thread);
    if (!slot)
        return;
    event_slot_fill(slot, call->hook, args);
    slot->stack_id = stack_id;
    slot->result = (int16_t)result;
    hooked_call_number(slot, call->open);
    ring_publish(slot);
}

void hooked_call_store(struct hooked_call *call, const struct event_args *args, int result)
{
    store_event(call, args, call_stack_take(call->thread), result);
}

/* In a captured stream, a stream-ordered allocation becomes a node of the graph. */
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
        if (!graphs_capture_is_open())
            sampling_current_mempool(call, args->device);
    } else {
        if (args->memory == MEMORY_GRAPH_NODE)
            graphs_expect_memory(args->device);
        sampling_context(call, args);
    }
    if (args->memory == MEMORY_ASYNC)
        sampling_mempool(call, args);
}

static void after_other_call(struct hooked_call *call, struct event_args *args, int result)
{
    const uint64_t duration_ns = call->begin_ns ? hooked_call_duration(call, call->begin_ns) : 0;
    /* An allocation of zero bytes that returns NULL is not recorded. */
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
