/* SPDX-License-Identifier: MIT */
/*
 * Writes one event to the ring: gives it a slot, a number and a time, and fills in its arguments.
 */
#pragma once

#include <stdint.h>

#include "clock.h"
#include "gpumemtrace/event.h"
#include "thread.h"
#include "trace/hook_ids.h"

#define DEVICE_UNKNOWN (-1)
#define DEVICE_LIMIT 64

/* The values that a hook's row of hooks.def gives. */
struct event_args {
    enum event_kind kind;
    enum memory_kind memory;
    int device;
    uint64_t address, size_bytes, object, stream;
};

extern struct thread_part event_slot_clock; /* the part with each thread's clock */

/* Returns the time by the thread's clock, which event_slot_claim also uses. Keeps errno. */
static inline uint64_t event_slot_now(struct thread *thread)
{
    return clock_now_ns(thread_part(thread, &event_slot_clock)) - recording.start_monotonic_ns;
}

/* Claims the thread's next slot and gives it a number and a time. NULL: the event is lost and
 * counted. The time is read before the number is taken. In the other order, reading the counter
 * would wait for the locked increment. */
static inline struct ring_slot *event_slot_claim(struct thread *thread)
{
    struct ring_slot *slot = thread_claim(thread, 1);
    if (slot) {
        slot->time_ns = event_slot_now(thread);
        slot->seq = recording_next_seq();
    }
    return slot;
}

static inline void event_slot_fill(struct ring_slot *slot, enum hook hook,
                                   const struct event_args *args)
{
    slot->type = SLOT_EVENT;
    slot->hook_id = (uint16_t)hook;
    slot->kind = (uint8_t)args->kind;
    slot->memory = (uint8_t)args->memory;
    slot->address = args->address;
    /* SQLite's integers are signed. A size this large can only be a request that fails. */
    slot->size_bytes = args->size_bytes > INT64_MAX ? INT64_MAX : args->size_bytes;
    slot->object = args->object;
    slot->stream = args->stream;
    slot->device =
        (int8_t)(args->device >= 0 && args->device < DEVICE_LIMIT ? args->device : DEVICE_UNKNOWN);
}

/* Writes an event outside any hooked call: a phase, a mark, the exit. Keeps errno. */
void event_write(struct thread *thread, enum hook hook, const struct event_args *args);
