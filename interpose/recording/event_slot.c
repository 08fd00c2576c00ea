/* SPDX-License-Identifier: MIT */
/*
 * See event_slot.h.
 */
#include "event_slot.h"

struct thread_part event_slot_clock = THREAD_PART(struct clock, sizeof(struct clock));

void event_write(struct thread *thread, enum hook hook, const struct event_args *args)
{
    struct ring_slot *slot = event_slot_claim(thread);
    if (slot) {
        event_slot_fill(slot, hook, args);
        ring_publish(slot);
    }
}
