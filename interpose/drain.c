/* SPDX-License-Identifier: MIT */
/*
 * Reads segments, merges their events by seq, stores them. See drain.h for the picture. It must not
 * move a tail before the COMMIT: that order is what makes SIGKILL harmless.
 */
#include "drain.h"

#include <stdlib.h>
#include <string.h>

#include "tally.h"

struct drain *drain_new(struct ring *ring, struct store *store, bool dead)
{
    struct drain *drain = calloc(1, sizeof *drain);
    if (!drain)
        return NULL;
    drain->ring = ring;
    drain->store = store;
    drain->dead = dead;
    return drain;
}

static struct drain_position position_of(uint64_t tail)
{
    return (struct drain_position){.slot = (uint32_t)tail, .thread_id = (uint32_t)(tail >> 32)};
}

static uint64_t tail_of(struct drain_position position)
{
    return (uint64_t)position.thread_id << 32 | position.slot;
}

/* Text of a definition, gathered from the slots behind it. */
static size_t gather_text(const struct ring_slot *slot, char *text)
{
    size_t done = 0;
    const size_t bytes = slot->call_id < RECORD_TEXT_MAX ? slot->call_id : RECORD_TEXT_MAX;
    while (done < bytes) {
        const size_t part = bytes - done < SLOT_TEXT_BYTES ? bytes - done : SLOT_TEXT_BYTES;
        memcpy(text + done, (++slot)->text, part);
        done += part;
    }
    return bytes;
}

static int read_definition(struct drain *drain, struct drain_position *position,
                           const struct ring_slot *slot, struct err *err)
{
    char text[RECORD_TEXT_MAX];
    const unsigned slots = 1 + record_text_slots(slot->call_id);
    if (position->slot + slots > RING_SEGMENT_SLOTS) { /* only a damaged file says so */
        position->slot = RING_SEGMENT_SLOTS;
        return 0;
    }
    position->slot += slots;
    if (slot->type == SLOT_OWNER) {
        position->thread_id = (uint32_t)slot->seq;
        return 0;
    }
    return store_define(drain->store, slot, text, gather_text(slot, text), err);
}

static void read_event(struct drain *drain, struct drain_position *position,
                       const struct ring_slot *slot, size_t *count)
{
    position->slot++;
    if (slot->kind == EVENT_NONE) /* taken and found to be no event */
        return;
    drain->events[(*count)++] = (struct store_event){slot, position->thread_id};
    if (slot->time_ns > drain->last_time_ns)
        drain->last_time_ns = slot->time_ns;
}

/* Reads on in one segment until it is empty, a call is still in progress, or the batch is full. */
static int read_segment(struct drain *drain, const struct ring_segment *segment,
                        struct drain_position *position, size_t *count, struct err *err)
{
    while (position->slot < RING_SEGMENT_SLOTS && *count < DRAIN_BATCH_EVENTS) {
        const struct ring_slot *slot = &segment->slots[position->slot];
        const uint8_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if (state == SLOT_EMPTY || (state == SLOT_PENDING && !drain->dead))
            return 0;
        if (slot->type == SLOT_END)
            position->slot = RING_SEGMENT_SLOTS;
        else if (slot->type == SLOT_EVENT)
            read_event(drain, position, slot, count);
        else if (read_definition(drain, position, slot, err))
            return -1;
        drain->in_flight_events += state == SLOT_PENDING;
    }
    return 0;
}

/* --- merging: a binary heap of runs, the one with the lowest next seq on top --------------------
 */

struct run_heap {
    const struct store_event *events;
    struct drain_run *runs;
    size_t count;
};

static uint64_t next_seq(const struct run_heap *heap, size_t at)
{
    return heap->events[heap->runs[at].next].slot->seq;
}

static void sift_down(struct run_heap *heap, size_t at)
{
    for (;;) {
        size_t lowest = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
            if (next_seq(heap, child) < next_seq(heap, lowest))
                lowest = child;
        if (lowest == at)
            return;
        const struct drain_run swapped = heap->runs[at];
        heap->runs[at] = heap->runs[lowest];
        heap->runs[lowest] = swapped;
        at = lowest;
    }
}

static void merge_runs(struct drain *drain, size_t run_count)
{
    struct run_heap heap = {drain->events, drain->runs, run_count};
    size_t count = 0;
    for (size_t at = run_count; at-- > 0;)
        sift_down(&heap, at);
    while (heap.count) {
        struct drain_run *top = &heap.runs[0];
        drain->merged[count++] = drain->events[top->next++];
        if (top->next == top->end)
            *top = heap.runs[--heap.count];
        sift_down(&heap, 0);
    }
}

/* --- the batch ----------------------------------------------------------------------------------
 */

static bool segment_has_news(const struct drain *drain, const struct ring_segment *segment)
{
    const struct drain_position position =
        position_of(atomic_load_explicit(&segment->tail, memory_order_relaxed));
    if (position.slot >= RING_SEGMENT_SLOTS)
        return false;
    const uint8_t state =
        atomic_load_explicit(&segment->slots[position.slot].state, memory_order_acquire);
    return state == SLOT_DONE || (state == SLOT_PENDING && drain->dead);
}

static bool has_news(struct drain *drain, uint32_t segments)
{
    for (uint32_t i = 0; i < segments; i++) {
        const struct ring_segment *segment = ring_segment(drain->ring, i);
        if (segment && segment_has_news(drain, segment))
            return true;
    }
    return false;
}

static int read_segments(struct drain *drain, uint32_t segments, size_t *count, size_t *runs,
                         struct err *err)
{
    for (uint32_t i = 0; i < segments; i++) {
        const struct ring_segment *segment = ring_segment(drain->ring, i);
        const size_t before = *count;
        if (!segment)
            continue;
        drain->positions[i] =
            position_of(atomic_load_explicit(&segment->tail, memory_order_relaxed));
        if (read_segment(drain, segment, &drain->positions[i], count, err))
            return -1;
        if (*count > before)
            drain->runs[(*runs)++] = (struct drain_run){before, *count};
    }
    return 0;
}

/* A full segment that is stored to its end goes back to the threads. In a file that is only read
 * (the tails are then memory of this process alone) there is nobody to give it to. */
static void move_tails(struct drain *drain, uint32_t segments)
{
    for (uint32_t i = 0; i < segments; i++) {
        struct ring_segment *segment = ring_segment(drain->ring, i);
        if (!segment)
            continue;
        atomic_store_explicit(&segment->tail, tail_of(drain->positions[i]), memory_order_release);
        if (!drain->dead && drain->positions[i].slot >= RING_SEGMENT_SLOTS &&
            atomic_load_explicit(&segment->state, memory_order_acquire) == SEGMENT_FULL)
            ring_recycle(segment);
    }
}

int drain_batch(struct drain *drain, struct err *err)
{
    const uint32_t segments = ring_segment_count(drain->ring);
    const uint64_t in_flight_before = drain->in_flight_events;
    size_t count = 0, runs = 0;
    if (!has_news(drain, segments))
        return 0;
    if (store_begin(drain->store, err))
        return -1;
    if (read_segments(drain, segments, &count, &runs, err))
        goto failed;
    merge_runs(drain, runs);
    if (store_events(drain->store, drain->merged, count, err) || store_commit(drain->store, err))
        goto failed;
    if (drain->tally)
        tally_add(drain->tally, drain->merged, count);
    move_tails(drain, segments);
    return count == DRAIN_BATCH_EVENTS;
failed:
    store_rollback(drain->store);
    drain->in_flight_events = in_flight_before;
    return -1;
}

int drain_all(struct drain *drain, struct err *err)
{
    int status;
    do
        status = drain_batch(drain, err);
    while (status > 0);
    return status;
}
