/* SPDX-License-Identifier: MIT */
/*
 * One hooked call, from entry to return: is it an event, which number and time, what is stored. A
 * call inside another of the same kind on the same thread (cudaMalloc makes a cuMemAlloc) is part
 * of the outer one. It must not call the real function, nor change errno or what it returned.
 *
 *     noted before the call (a free):      capture_begin → capture_before → real → capture_finish
 *     noted after it (an allocation):      capture_begin → real → capture_after
 *
 * A free takes number, time and a pending slot first: another thread may get the same address back
 * before the real call returns. An allocation takes them after: nobody has the address earlier. So
 * the events of one address are always in their true order.
 */
#ifndef GPUMEMTRACE_INTERPOSE_HOOK_CAPTURE_H
#define GPUMEMTRACE_INTERPOSE_HOOK_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/hook_ids.h"
#include "trace/record.h"
#include "interpose/life/thread.h"

/* Special values of a hook row's device and object columns. */
#define CAPTURE_CURRENT_DEVICE (-2)
#define CAPTURE_DEVICE_BY_ADDRESS (-1)
#define CAPTURE_CURRENT_CONTEXT UINT64_MAX
#define CAPTURE_CURRENT_POOL (UINT64_MAX - 1)

/* What a hook row says of its call. */
struct capture_facts {
    enum event_kind kind;
    enum memory_kind memory;
    int device;
    uint64_t address, size_bytes, object, stream;
};

struct capture {
    struct thread *thread;
    struct ring_slot *slot; /* pending; NULL if noted after the call, or lost */
    enum hook hook;
    enum event_kind kind;
    uint64_t guards_before; /* the thread's open_guards and open_calls outside it */
    uint32_t calls_before;
};

/* Is the event noted before the real call? */
static inline bool capture_precedes(enum event_kind kind)
{
    return kind == EVENT_FREE || kind == EVENT_UNMAP || kind == EVENT_UNBIND ||
           kind == EVENT_POOL_DESTROY || kind == EVENT_CONTEXT_DESTROY ||
           kind == EVENT_MODULE_UNLOAD;
}

/* false: not recording, or part of an outer call; then nothing else is to be called. */
bool capture_begin(struct capture *capture, enum hook hook, enum event_kind kind,
                   enum memory_kind memory);
void capture_before(struct capture *capture, const struct capture_facts *facts);
/* keep false: it turned out to be no event. */
void capture_finish(struct capture *capture, int result, bool keep);
void capture_after(struct capture *capture, const struct capture_facts *facts, int result);

/* For a call that stands for several events: one event after the call, any number of times, then
 * capture_leave. capture_after is one and leaves. */
void capture_store(struct capture *capture, const struct capture_facts *facts, int result);
void capture_leave(struct capture *capture);
/* An event inside the call, without a stack of its own. */
void capture_child(struct capture *capture, const struct capture_facts *facts);

/* An event of its own, outside any hooked call: a phase, a mark, the exit. */
void capture_event(struct thread *thread, enum hook hook, const struct capture_facts *facts);

#endif
