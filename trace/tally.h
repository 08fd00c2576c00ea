/* SPDX-License-Identifier: MIT */
/*
 * Puts events in order for the line at exit and for meta.peaks: they reach the writer thread by thread, and live
 * memory must be counted in order of seq. Events wait for an earlier one whose call has not
 * returned, but at most TALLY_WAITING_MAX of them. It must not know what events mean: live.h does.
 */
#ifndef GPUMEMTRACE_TRACE_TALLY_H
#define GPUMEMTRACE_TRACE_TALLY_H

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
    struct live_event *waiting; /* ascending seq */
    size_t waiting_count, waiting_limit;
    uint64_t next_seq;
};

void tally_release(struct tally *tally);
/* events: ascending in seq. */
void tally_add(struct tally *tally, const struct batch_event *events, size_t count);
/* Counts the events that still wait: no more will come. */
void tally_finish(struct tally *tally);
/* After that, what meta.peaks says. false: a replay might say something else. */
bool tally_peaks(const struct tally *tally, char text[TALLY_PEAKS_BYTES]);
/* Writes its sums where others read them; one process at a time. */
void tally_publish(const struct tally *tally, struct ring_sums *sums);

#endif
