/* SPDX-License-Identifier: MIT */
/*
 * Puts events in the order of seq, because live memory must be counted in that order for the line
 * at exit and for meta.peaks. The writer gets the events thread by thread. If an earlier event's
 * call has not returned, the later events wait for it; at most TALLY_WAITING_MAX events wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "live.h"
#include "ring.h"

#define TALLY_WAITING_MAX 65536
#define TALLY_PEAKS_BYTES (96 * (LIVE_DEVICES + 1))

struct tally {
    struct live live;
    struct live_event *waiting; /* in ascending order of seq */
    size_t waiting_count, waiting_limit;
    uint64_t next_seq;
};

void tally_release(struct tally *tally);
/* events: in ascending order of seq. */
void tally_add(struct tally *tally, const struct batch_event *events, size_t count);
/* Counts the events that still wait. Call it when no more events will come. */
void tally_finish(struct tally *tally);
/* Writes the text of meta.peaks. Call it after tally_finish. Returns false if a replay might find
 * other figures. */
bool tally_peaks(const struct tally *tally, char text[TALLY_PEAKS_BYTES]);
/* Writes the sums into the ring's header, where other processes read them. One process at a
 * time. */
void tally_publish(const struct tally *tally, struct ring_sums *sums);
