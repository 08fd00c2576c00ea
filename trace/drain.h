/* SPDX-License-Identifier: MIT */
/*
 * Moves slots from the ring to the store, a batch at a time: one transaction, then the tails. The
 * recorder's writer and the folding of a killed process's ring are the same code. It must not know
 * hooks, nor who waits for it.
 *
 *     segments ──► definitions ──────────────► string, frame, module …
 *              └─► events, lowest seq first ─► event              COMMIT ──► tails
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
/* Of what waits, how many segments are in memory at a time: more than fill a batch. */
#define DRAIN_FULL_SEGMENTS 16

/* Where the reading of one segment stands; becomes its tail after the COMMIT. */
struct drain_cursor {
    struct ring_segment *segment;
    uint32_t slot;
    uint32_t thread_id;
    const struct ring_slot *event; /* the next event, NULL: none is ready */
};

struct drain {
    struct ring *ring;
    struct store *store;
    struct tally *tally;       /* told of stored events, or NULL */
    bool dead;                 /* the producer is gone: a pending slot will never be done */
    uint64_t in_flight_events; /* pending slots that a dead producer left */
    uint64_t last_time_ns;     /* of the latest event stored */
    struct drain_cursor cursors[RING_SEGMENT_LIMIT];
    struct drain_cursor *heap[RING_SEGMENT_LIMIT]; /* by the seq of their events, lowest first */
    uint32_t full[RING_SEGMENT_LIMIT];             /* segments of this batch that are full */
    bool full_left;                                /* some of them are not in it */
    struct store_event events[DRAIN_BATCH_EVENTS]; /* of this batch, ascending in seq */
};

/* A drain is large; NULL: no memory. Freed with free(). */
struct drain *drain_new(struct ring *ring, struct store *store, bool dead);

/* Stores one batch. 1: there is more, 0: everything that is done is stored, -1: nothing of this
 * batch was stored and no tail moved, *err says why. */
int drain_batch(struct drain *drain, struct err *err);
/* Until there is no more: for a ring that nobody fills any longer. */
int drain_all(struct drain *drain, struct err *err);
/* The same, but `batches` at most: for a ring that goes on being filled. */
int drain_some(struct drain *drain, unsigned batches, struct err *err);

#endif
