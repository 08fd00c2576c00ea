/* SPDX-License-Identifier: MIT */
/*
 * Moves slots from the ring to the store, one batch at a time. The transaction comes first, and the
 * tails move after it. The recorder's writer uses this code, and so does the folding of a killed
 * process's ring.
 *
 *     segments ──► definitions ──────────────► string, frame, module …
 *              └─► events, lowest seq first ─► event
 *     COMMIT   ──► tails
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"
#include "ring.h"
#include "store.h"

struct tally;

#define DRAIN_BATCH_EVENTS 32768
/* One batch reads at most this number of FULL segments with events. Together they hold more than
 * one batch. */
#define DRAIN_FULL_SEGMENTS 16

/* The read position in one segment; it becomes the segment's tail after the COMMIT. */
struct drain_cursor {
    struct ring_segment *segment;
    uint32_t slot;
    uint32_t thread_id;
    const struct ring_slot *event; /* the next event; NULL: no event is ready */
};

/* The last exit event of a batch, or the last event that undoes an exit. */
struct drain_exit {
    bool stated;
    uint64_t seq, time_ns; /* 0: the exit was undone */
};

/* Sums over the alloc events stored so far; see meta.allocation_sums. */
struct drain_sums {
    uint64_t count, bytes, largest_bytes, refused_count;
};

struct drain {
    struct ring *ring;
    struct store *store;
    struct tally *tally;    /* gets the stored events; may be NULL */
    bool dead;              /* the producer is gone: pending slots stay pending */
    uint64_t pending_count; /* stored events whose calls had not returned */
    struct drain_sums sums;
    struct drain_exit exit; /* of this batch */
    struct drain_cursor cursors[RING_SEGMENT_LIMIT];
    struct drain_cursor *heap[RING_SEGMENT_LIMIT]; /* a heap: the lowest seq is on top */
    _Atomic uint64_t batch_count; /* batches stored so far; other threads see progress by it */
    bool full_left;               /* this batch may not have read all FULL segments */
    struct batch_event events[DRAIN_BATCH_EVENTS]; /* of this batch, in ascending order of seq */
};

/* NULL: out of memory. The caller releases it with free(). */
struct drain *drain_new(struct ring *ring, struct store *store, bool dead);

/* Stores one batch. 1: there is more. 0: every finished slot is stored. -1: *err says why, nothing
 * of this batch is stored and no tail has moved. */
int drain_batch(struct drain *drain, struct err *err);
/* Stores everything. Use it for a ring that no process fills any more. */
int drain_all(struct drain *drain, struct err *err);
/* Stores at most `batches` batches. Use it for a ring that is still being filled. */
int drain_some(struct drain *drain, unsigned batches, struct err *err);

/* Figures of a dead producer's ring. They count all slots, stored or not, so they do not depend on
 * which process folds the ring or how often folding was interrupted. */
struct drain_remains {
    uint64_t in_flight_events; /* calls that had not returned */
    uint64_t last_time_ns;     /* of the latest event */
};
struct drain_remains drain_remains(struct drain *drain);

/* Stores the meta rows of the end in one transaction: losses, the figures of the finished tally,
 * and the members of *end. */
struct drain_end {
    int64_t end_ns;
    int exit_status; /* -1: unknown */
    uint64_t in_flight_events;
    bool complete;
    bool has_sums; /* this drain has stored all events of the trace */
};
int drain_store_end(struct drain *drain, const struct drain_end *end, struct err *err);
