/* SPDX-License-Identifier: MIT */
/*
 * Moves slots from the ring to the store, a batch at a time: one transaction, then the tails. Used
 * by the recorder's writer and by the folding of a killed process's ring. It must not know hooks,
 * nor who waits for it.
 *
 *     segments ──► definitions ──────────────► string, frame, module …
 *              └─► events, lowest seq first ─► event
 *     COMMIT   ──► tails
 */
#ifndef GPUMEMTRACE_TRACE_DRAIN_H
#define GPUMEMTRACE_TRACE_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"
#include "ring.h"
#include "store.h"

struct tally;

#define DRAIN_BATCH_EVENTS 32768
/* How many FULL segments with events one batch reads: more than fill it. */
#define DRAIN_FULL_SEGMENTS 16

/* How far one segment has been read; becomes its tail after the COMMIT. */
struct drain_cursor {
    struct ring_segment *segment;
    uint32_t slot;
    uint32_t thread_id;
    const struct ring_slot *event; /* the next event; NULL: none is ready */
};

/* Whether a batch says that the process ends, or that it goes on after all. */
struct drain_exit {
    bool stated;
    uint64_t seq, time_ns; /* 0: the exit was undone */
};

/* Of the alloc events stored so far; see meta.allocation_sums. */
struct drain_sums {
    uint64_t count, bytes, largest_bytes, refused_count;
};

struct drain {
    struct ring *ring;
    struct store *store;
    struct tally *tally;    /* receives the stored events; may be NULL */
    bool dead;              /* the producer is gone: pending slots stay pending */
    uint64_t pending_count; /* of the events stored so far: their calls had not returned */
    struct drain_sums sums;
    struct drain_exit exit; /* the last one among the events of this batch */
    struct drain_cursor cursors[RING_SEGMENT_LIMIT];
    struct drain_cursor *heap[RING_SEGMENT_LIMIT]; /* by the seq of their events, lowest first */
    _Atomic uint64_t batch_count; /* stored so far, for any thread to see that the drain gets on */
    bool full_left;               /* this batch may not read all FULL segments */
    struct batch_event events[DRAIN_BATCH_EVENTS]; /* of this batch, ascending in seq */
};

/* NULL: out of memory. The caller releases it with free(). */
struct drain *drain_new(struct ring *ring, struct store *store, bool dead);

/* Stores one batch. 1: there is more; 0: every finished slot is stored; -1: *err says why, nothing
 * of this batch is stored and no tail has moved. */
int drain_batch(struct drain *drain, struct err *err);
/* Stores everything, for a ring that nobody fills any more. */
int drain_all(struct drain *drain, struct err *err);
/* Stores at most `batches` batches, for a ring that is still being filled. */
int drain_some(struct drain *drain, unsigned batches, struct err *err);

/* What a dead producer's ring holds, stored or not: whoever folds it, and however often folding was
 * interrupted, the answer is the same. */
struct drain_remains {
    uint64_t in_flight_events; /* calls that had not returned */
    uint64_t last_time_ns;     /* of the latest event */
};
struct drain_remains drain_remains(struct drain *drain);

/* Stores the meta rows of the end, in one transaction: losses, what the tally found, which is finished, and
 * what the caller knows. */
struct drain_end {
    int64_t end_ns;
    int exit_status; /* -1: it has none */
    uint64_t in_flight_events;
    bool complete;
    bool has_sums; /* the drain stored all events of the trace */
};
int drain_store_end(struct drain *drain, const struct drain_end *end, struct err *err);

#endif
