/* SPDX-License-Identifier: MIT */
/*
 * See tally.h. Runs on the writer's thread, so it may allocate; where that fails, events are not
 * counted, and only the line at exit is wrong.
 */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

void tally_release(struct tally *tally)
{
    live_release(&tally->live);
    free(tally->waiting);
    memset(tally, 0, sizeof *tally);
}

static void count(struct tally *tally, const struct live_event *event)
{
    tally->next_seq = event->seq + 1;
    live_count(&tally->live, event);
}

/* A call that has not returned counts as no event. */
static struct live_event read_event(const struct ring_slot *slot)
{
    const bool pending = atomic_load_explicit(&slot->state, memory_order_relaxed) == SLOT_PENDING;
    return (struct live_event){.seq = slot->seq,
                               .address = slot->address,
                               .size_bytes = slot->size_bytes,
                               .object = slot->object,
                               .kind = pending ? EVENT_NONE : slot->kind,
                               .memory = slot->memory,
                               .device = slot->device,
                               .result = slot->result};
}

static int reserve(struct tally *tally, size_t needed)
{
    const size_t limit = needed > 2 * tally->waiting_limit ? needed : 2 * tally->waiting_limit;
    if (needed <= tally->waiting_limit)
        return 0;
    struct live_event *grown = realloc(tally->waiting, limit * sizeof *grown);
    if (!grown)
        return -1;
    tally->waiting = grown;
    tally->waiting_limit = limit;
    return 0;
}

/* Merges two ascending lists from the back, so that nothing is overwritten before it has moved. */
static void merge(struct tally *tally, const struct batch_event *events, size_t event_count)
{
    size_t old = tally->waiting_count, fresh = event_count, to = old + fresh;
    tally->waiting_count = to;
    while (fresh) {
        if (old && tally->waiting[old - 1].seq > events[fresh - 1].slot->seq)
            tally->waiting[--to] = tally->waiting[--old];
        else
            tally->waiting[--to] = read_event(events[--fresh].slot);
    }
}

static void count_ready(struct tally *tally, size_t waiting_max)
{
    size_t done = 0;
    while (done < tally->waiting_count && (tally->waiting[done].seq <= tally->next_seq ||
                                           tally->waiting_count - done > waiting_max))
        count(tally, &tally->waiting[done++]);
    if (!done)
        return;
    tally->waiting_count -= done;
    memmove(tally->waiting, tally->waiting + done, tally->waiting_count * sizeof *tally->waiting);
}

void tally_add(struct tally *tally, const struct batch_event *events, size_t count_of_events)
{
    if (!tally->next_seq)
        tally->next_seq = 1;
    /* Those that nothing has to come before need not wait in a copy. */
    for (; count_of_events && !tally->waiting_count && events->slot->seq <= tally->next_seq;
         events++, count_of_events--) {
        const struct live_event event = read_event(events->slot);
        count(tally, &event);
    }
    if (!count_of_events)
        return;
    if (reserve(tally, tally->waiting_count + count_of_events))
        return;
    merge(tally, events, count_of_events);
    count_ready(tally, TALLY_WAITING_MAX);
}

void tally_finish(struct tally *tally)
{
    if (tally->waiting_count)
        count_ready(tally, 0);
}
