/* SPDX-License-Identifier: MIT */
/*
 * See event_slot.h.
 */
#include "event_slot.h"

#include <errno.h>

#include "clock.h"

static struct thread_part clock_part = THREAD_PART(struct clock, sizeof(struct clock));

struct ring_slot *event_slot_claim(struct thread *thread)
{
    struct ring_slot *slot = thread_claim(thread, 1);
    if (slot) {
        slot->seq = recording_next_seq();
        slot->time_ns =
            clock_now_ns(thread_part(thread, &clock_part)) - recording.start_monotonic_ns;
    }
    return slot;
}

void event_write(struct thread *thread, enum hook hook, const struct event_args *args)
{
    const int saved_errno = errno;
    struct ring_slot *slot = event_slot_claim(thread);
    if (slot) {
        event_slot_fill(slot, hook, args);
        ring_publish(slot);
    }
    errno = saved_errno;
}
