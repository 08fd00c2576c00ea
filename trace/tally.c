/* SPDX-License-Identifier: MIT */
/*
 * See tally.h. Runs on the writer's thread, so it may allocate. If an allocation fails, events are
 * not counted: the line at exit is wrong, and meta.peaks is NULL.
 */
#include "tally.h"

#include <inttypes.h>
#include <stdio.h>
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
    tally->live.is_doubtful |= event->seq < tally->next_seq; /* the event came too late */
    tally->next_seq = event->seq + 1;
    live_count(&tally->live, event);
}

/* Reads an event from its slot. A call that has not returned becomes EVENT_NONE. */
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

/* Merges two ascending lists from the back, so that no item is overwritten before it has moved. */
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
    /* Events that wait for no earlier one are counted without a copy. */
    for (; count_of_events && !tally->waiting_count && events->slot->seq <= tally->next_seq;
         events++, count_of_events--) {
        const struct live_event event = read_event(events->slot);
        count(tally, &event);
    }
    if (!count_of_events)
        return;
    if (reserve(tally, tally->waiting_count + count_of_events)) {
        tally->live.is_doubtful = true;
        return;
    }
    merge(tally, events, count_of_events);
    count_ready(tally, TALLY_WAITING_MAX);
}

void tally_finish(struct tally *tally)
{
    if (tally->waiting_count)
        count_ready(tally, 0);
}

/* --- the peaks --- */

/* The pool with the highest peak on the device; -1: no pool was asked for memory. */
static int leading_pool(const struct live *live, int device)
{
    int leading = -1;
    uint64_t peak_bytes = 0;
    for (int pool = 0; pool < LIVE_POOLS; pool++) {
        const size_t account = live_account_of_pool(pool, device);
        if (!live->is_seen[account] || (leading >= 0 && live->peak_bytes[account] <= peak_bytes))
            continue;
        leading = pool;
        peak_bytes = live->peak_bytes[account];
    }
    return leading;
}

bool tally_peaks(const struct tally *tally, char text[TALLY_PEAKS_BYTES])
{
    const struct live *live = &tally->live;
    size_t length = 0;
    *text = '\0';
    for (int device = 0; device <= LIVE_UNKNOWN_DEVICE; device++) {
        const int pool = leading_pool(live, device);
        const uint64_t driver_bytes = live->peak_bytes[device];
        const uint64_t bytes =
            pool < 0 ? driver_bytes : live->peak_bytes[live_account_of_pool(pool, device)];
        if (live->is_seen[device] || bytes || driver_bytes)
            length += (size_t)snprintf(text + length, TALLY_PEAKS_BYTES - length,
                                       "%s%d %" PRIu64 " %" PRIu64 " %" PRIu64, length ? ";" : "",
                                       device == LIVE_UNKNOWN_DEVICE ? -1 : device,
                                       pool < 0 ? 0 : live->pools[pool], bytes, driver_bytes);
    }
    return !live->is_doubtful;
}

/* --- sums for watching processes --- */

static void add_sum(struct ring_sums *sums, const struct live *live, size_t account, uint64_t pool,
                    int device)
{
    if (live->peak_bytes[account] && sums->count < RING_SUMS)
        sums->items[sums->count++] =
            (struct ring_sum){pool, device, live->live_bytes[account], live->peak_bytes[account]};
}

/* A reader compares the version before and after it reads the sums. Release keeps the sums between
 * the two stores of the version. */
void tally_publish(const struct tally *tally, struct ring_sums *sums)
{
    const struct live *live = &tally->live;
    const uint64_t version = atomic_load_explicit(&sums->version, memory_order_relaxed);
    atomic_store_explicit(&sums->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    sums->seq = tally->next_seq ? tally->next_seq - 1 : 0;
    sums->count = 0;
    for (int device = 0; device < LIVE_DEVICES && !live->is_doubtful; device++) {
        for (int pool = 0; pool < LIVE_POOLS; pool++)
            add_sum(sums, live, live_account_of_pool(pool, device), live->pools[pool], device);
        add_sum(sums, live, (size_t)device, 0, device);
    }
    atomic_store_explicit(&sums->version, version + 2, memory_order_release);
}
