/* SPDX-License-Identifier: MIT */
/*
 * Reads segments, merges their events by seq and stores the events. drain.h draws this. No tail
 * moves before the COMMIT, so that SIGKILL never loses an event.
 */
#include "drain.h"

#include <inttypes.h>
#include <stdio.h>
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

/* --- one segment --- */

static void load_tail(struct drain_cursor *cursor)
{
    const uint64_t tail = atomic_load_explicit(&cursor->segment->tail, memory_order_relaxed);
    cursor->slot = (uint32_t)tail;
    cursor->thread_id = (uint32_t)(tail >> 32);
    cursor->event = NULL;
}

static void store_tail(const struct drain_cursor *cursor)
{
    const uint64_t tail = (uint64_t)cursor->thread_id << 32 | cursor->slot;
    atomic_store_explicit(&cursor->segment->tail, tail, memory_order_release);
}

/* Returns the slot at the cursor. NULL: the slot is empty, or its call has not returned. */
static const struct ring_slot *ready_slot(const struct drain *drain,
                                          const struct drain_cursor *cursor)
{
    if (cursor->slot >= RING_SEGMENT_SLOTS)
        return NULL;
    const struct ring_slot *slot = &cursor->segment->slots[cursor->slot];
    const uint8_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    return state == SLOT_DONE || (state == SLOT_PENDING && drain->dead) ? slot : NULL;
}

/* Copies the text of a definition from the slots after it. */
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

static int read_definition(struct drain *drain, struct drain_cursor *cursor,
                           const struct ring_slot *slot, struct err *err)
{
    char text[RECORD_TEXT_MAX];
    const unsigned slots = 1 + record_text_slots(slot->call_id);
    if (slot->type == SLOT_END || cursor->slot + slots > RING_SEGMENT_SLOTS) {
        cursor->slot = RING_SEGMENT_SLOTS; /* text beyond the end, which only a damaged file has */
        return 0;
    }
    cursor->slot += slots;
    if (slot->type == SLOT_OWNER) {
        cursor->thread_id = (uint32_t)slot->seq;
        return 0;
    }
    return store_define(drain->store, slot, text, gather_text(slot, text), err);
}

/* Stores the definitions before the segment's next event and stops at that event. */
static int find_event(struct drain *drain, struct drain_cursor *cursor, struct err *err)
{
    const struct ring_slot *slot;
    cursor->event = NULL;
    while ((slot = ready_slot(drain, cursor))) {
        if (slot->type != SLOT_EVENT) {
            if (read_definition(drain, cursor, slot, err))
                return -1;
        } else if (slot->kind == EVENT_NONE) { /* the call did nothing that is recorded */
            cursor->slot++;
        } else {
            cursor->event = slot;
            return 0;
        }
    }
    return 0;
}

/* --- a heap of segments: the segment whose next event has the lowest seq is on top --- */

static void sift_down(struct drain_cursor **heap, size_t count, size_t at)
{
    for (;;) {
        size_t lowest = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (heap[child]->event->seq < heap[lowest]->event->seq)
                lowest = child;
        if (lowest == at)
            return;
        struct drain_cursor *swapped = heap[at];
        heap[at] = heap[lowest];
        heap[lowest] = swapped;
        at = lowest;
    }
}

static int add_segment(struct drain *drain, uint32_t index, size_t *heap_count, struct err *err)
{
    struct drain_cursor *cursor = &drain->cursors[index];
    cursor->segment = ring_segment(drain->ring, index);
    if (!cursor->segment)
        return 0;
    load_tail(cursor);
    if (find_event(drain, cursor, err))
        return -1;
    if (cursor->event)
        drain->heap[(*heap_count)++] = cursor;
    return 0;
}

struct full_segment {
    uint64_t order; /* position in the order in which segments filled */
    uint32_t index;
};

/* Finds the FULL segments that filled first among the segments with this order or a later one. A
 * ring may have thousands of segments, but a batch reads only a few, so the segments are not all
 * sorted. */
static size_t find_full(const struct drain *drain, uint32_t segments, uint64_t from,
                        struct full_segment *first)
{
    size_t count = 0;
    for (uint32_t i = 0; i < segments; i++) {
        if (ring_segment_state(drain->ring, i) != SEGMENT_FULL)
            continue;
        const struct full_segment found = {drain->ring->full_order[i], i};
        const bool is_late = count == DRAIN_FULL_SEGMENTS && found.order > first[count - 1].order;
        const bool is_added = drain->cursors[i].segment != NULL; /* it was ACTIVE a moment ago */
        if (found.order < from || is_late || is_added)
            continue;
        size_t at = count < DRAIN_FULL_SEGMENTS ? count++ : count - 1;
        for (; at > 0 && first[at - 1].order > found.order; at--)
            first[at] = first[at - 1];
        first[at] = found;
    }
    return count;
}

/* Adds as many FULL segments as one batch needs, in the order in which they filled. A segment
 * counts only if it has an event that is ready. */
static int add_full_segments(struct drain *drain, uint32_t segments, size_t *heap_count,
                             struct err *err)
{
    const size_t limit = *heap_count + DRAIN_FULL_SEGMENTS;
    struct full_segment first[DRAIN_FULL_SEGMENTS];
    uint64_t from = 0;
    size_t found;
    do {
        found = find_full(drain, segments, from, first);
        for (size_t i = 0; i < found && *heap_count < limit; i++) {
            if (add_segment(drain, first[i].index, heap_count, err))
                return -1;
            from = first[i].order + 1;
        }
    } while (found == DRAIN_FULL_SEGMENTS && *heap_count < limit);
    drain->full_left = *heap_count == limit;
    return 0;
}

static bool may_have_news(enum segment_state state)
{
    return state != SEGMENT_IDLE && state != SEGMENT_DRAINED;
}

static int read_first_events(struct drain *drain, uint32_t segments, size_t *heap_count,
                             struct err *err)
{
    for (uint32_t i = 0; i < segments; i++) {
        const enum segment_state state = ring_segment_state(drain->ring, i);
        drain->cursors[i].segment = NULL;
        if (may_have_news(state) && state != SEGMENT_FULL && add_segment(drain, i, heap_count, err))
            return -1;
    }
    if (add_full_segments(drain, segments, heap_count, err))
        return -1;
    for (size_t at = *heap_count; at-- > 0;)
        sift_down(drain->heap, *heap_count, at);
    return 0;
}

static void take_event(struct drain *drain, struct drain_cursor *cursor, size_t *count)
{
    const struct ring_slot *slot = cursor->event;
    drain->events[(*count)++] = (struct batch_event){slot, cursor->thread_id};
    drain->pending_count +=
        atomic_load_explicit(&slot->state, memory_order_relaxed) == SLOT_PENDING;
    if (slot->kind == EVENT_EXIT)
        drain->exit = (struct drain_exit){true, slot->seq, slot->time_ns};
    else if (slot->kind == EVENT_EXIT_UNDONE)
        drain->exit = (struct drain_exit){.stated = true};
    cursor->slot++;
}

static int read_events(struct drain *drain, uint32_t segments, size_t *count, struct err *err)
{
    size_t heap_count = 0;
    if (read_first_events(drain, segments, &heap_count, err))
        return -1;
    while (heap_count && *count < DRAIN_BATCH_EVENTS) {
        struct drain_cursor *top = drain->heap[0];
        take_event(drain, top, count);
        if (find_event(drain, top, err))
            return -1;
        if (!top->event)
            drain->heap[0] = drain->heap[--heap_count];
        sift_down(drain->heap, heap_count, 0);
    }
    return 0;
}

/* --- the batch --- */

/* Is there a segment that must be read or recycled? A FULL segment must still be recycled if its
 * last slot was read while the segment was ACTIVE. */
static bool has_news(struct drain *drain, uint32_t segments)
{
    for (uint32_t i = 0; i < segments; i++) {
        const enum segment_state state = ring_segment_state(drain->ring, i);
        if (!may_have_news(state))
            continue;
        struct drain_cursor cursor = {.segment = ring_segment(drain->ring, i)};
        if (!cursor.segment)
            continue;
        load_tail(&cursor);
        if (ready_slot(drain, &cursor) ||
            (state == SEGMENT_FULL && cursor.slot >= RING_SEGMENT_SLOTS && !drain->dead))
            return true;
    }
    return false;
}

/* Recycles each FULL segment whose slots are all stored. If the producer is gone, the segment's
 * contents stay in the file, and only the pages are released from this process. */
static void move_tails(struct drain *drain, uint32_t segments)
{
    for (uint32_t i = 0; i < segments; i++) {
        const struct drain_cursor *cursor = &drain->cursors[i];
        if (!cursor->segment)
            continue;
        store_tail(cursor);
        if (cursor->slot < RING_SEGMENT_SLOTS)
            continue;
        if (drain->dead)
            ring_segment_retire(drain->ring, i);
        else if (ring_segment_state(drain->ring, i) == SEGMENT_FULL)
            ring_recycle(drain->ring, cursor->segment);
    }
}

static int store_exit(struct drain *drain, struct err *err)
{
    const struct drain_exit *exit = &drain->exit;
    struct store *store = drain->store;
    if (!exit->stated)
        return 0;
    if (!exit->seq)
        return store_meta_null(store, META_exit_seq, err) ||
                       store_meta_null(store, META_exit_ns, err)
                   ? -1
                   : 0;
    return store_meta_integer(store, META_exit_seq, (int64_t)exit->seq, err) ||
                   store_meta_integer(store, META_exit_ns, (int64_t)exit->time_ns, err)
               ? -1
               : 0;
}

static void sum_up(struct drain_sums *sums, const struct batch_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ring_slot *slot = events[i].slot;
        if (slot->kind != EVENT_ALLOC)
            continue;
        sums->count++;
        sums->bytes += slot->size_bytes;
        sums->largest_bytes =
            slot->size_bytes > sums->largest_bytes ? slot->size_bytes : sums->largest_bytes;
        sums->refused_count += slot->result != 0;
    }
}

int drain_batch(struct drain *drain, struct err *err)
{
    const uint32_t segments = ring_segment_count(drain->ring);
    size_t count = 0;
    const uint64_t pending_before = drain->pending_count;
    drain->exit = (struct drain_exit){0};
    if (!has_news(drain, segments))
        return 0;
    if (store_begin(drain->store, err))
        return -1;
    if (read_events(drain, segments, &count, err) ||
        store_events(drain->store, drain->events, count, err) || store_exit(drain, err) ||
        store_commit(drain->store, err)) {
        store_rollback(drain->store);
        drain->pending_count = pending_before;
        return -1;
    }
    atomic_fetch_add_explicit(&drain->batch_count, 1, memory_order_relaxed);
    sum_up(&drain->sums, drain->events, count);
    if (drain->tally) {
        tally_add(drain->tally, drain->events, count);
        tally_publish(drain->tally, &drain->ring->header->sums);
    }
    move_tails(drain, segments);
    return count == DRAIN_BATCH_EVENTS || drain->full_left;
}

int drain_all(struct drain *drain, struct err *err)
{
    int status;
    do
        status = drain_batch(drain, err);
    while (status > 0);
    return status;
}

int drain_some(struct drain *drain, unsigned batches, struct err *err)
{
    int status = 1;
    while (status > 0 && batches-- > 0)
        status = drain_batch(drain, err);
    return status < 0 ? -1 : 0;
}

/* The slots of a text have no state, so every slot with a state is an event or a definition. */
static void note_remains(struct drain_remains *remains, const struct ring_slot *slot)
{
    const uint8_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    if (state == SLOT_EMPTY || slot->type != SLOT_EVENT || slot->kind == EVENT_NONE)
        return;
    remains->in_flight_events += state == SLOT_PENDING;
    if (slot->time_ns > remains->last_time_ns)
        remains->last_time_ns = slot->time_ns;
}

struct drain_remains drain_remains(struct drain *drain)
{
    struct drain_remains remains = {0, 0};
    for (uint32_t i = 0; drain->dead && i < ring_segment_count(drain->ring); i++) {
        struct ring_segment *segment = ring_segment(drain->ring, i);
        if (!segment)
            continue;
        for (uint32_t slot = 0; slot < RING_SEGMENT_SLOTS; slot++)
            note_remains(&remains, &segment->slots[slot]);
        ring_segment_unload(drain->ring, segment);
    }
    return remains;
}

static int store_loss_reason(struct drain *drain, struct err *err)
{
    const char *reason = ring_loss_reason(drain->ring);
    return reason ? store_meta_text(drain->store, META_lost_reason, reason, err)
                  : store_meta_null(drain->store, META_lost_reason, err);
}

static int store_sums(struct drain *drain, bool has_sums, struct err *err)
{
    const struct drain_sums *sums = &drain->sums;
    char text[96];
    snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, sums->count,
             sums->bytes, sums->largest_bytes, sums->refused_count);
    return has_sums ? store_meta_text(drain->store, META_allocation_sums, text, err)
                    : store_meta_null(drain->store, META_allocation_sums, err);
}

/* If events were lost, the peaks are unknown, because lost allocations may have been live. */
static int store_peaks(struct drain *drain, const struct drain_end *end, struct err *err)
{
    char text[TALLY_PEAKS_BYTES];
    const bool are_known = end->has_sums && drain->tally &&
                           !atomic_load(&drain->ring->header->lost_events) &&
                           tally_peaks(drain->tally, text);
    return are_known ? store_meta_text(drain->store, META_peaks, text, err)
                     : store_meta_null(drain->store, META_peaks, err);
}

int drain_store_end(struct drain *drain, const struct drain_end *end, struct err *err)
{
    const struct ring_header *header = drain->ring->header;
    struct store *store = drain->store;
    if (store_begin(store, err))
        return -1;
    if (store_meta_integer(store, META_lost_events, (int64_t)atomic_load(&header->lost_events),
                           err) ||
        store_meta_integer(store, META_lost_frames, (int64_t)atomic_load(&header->lost_frames),
                           err) ||
        store_meta_integer(store, META_shared_names, (int64_t)atomic_load(&header->shared_names),
                           err) ||
        store_loss_reason(drain, err) || store_sums(drain, end->has_sums, err) ||
        store_peaks(drain, end, err) ||
        store_meta_integer(store, META_ring_full_ns, (int64_t)atomic_load(&header->full_ns), err) ||
        store_meta_integer(store, META_in_flight_events, (int64_t)end->in_flight_events, err) ||
        store_meta_integer(store, META_end_ns, end->end_ns, err) ||
        (end->exit_status >= 0 &&
         store_meta_integer(store, META_exit_status, end->exit_status, err)) ||
        store_meta_integer(store, META_complete,
                           end->complete && !atomic_load(&header->lost_events), err) ||
        store_commit(store, err)) {
        store_rollback(store);
        return -1;
    }
    return 0;
}
