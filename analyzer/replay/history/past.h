/* SPDX-License-Identifier: MIT */
/*
 * What was live at a moment of the past that somebody still asks about, and has ended since: with
 * what is live at the end, that is all that was live then. It must not know who asks.
 *
 *     ──────┬─────────────┬───────────►      moments move and fall away: each account's peak, the
 *           │ moment      │ now              last answer of the card; or stay: the moment that was
 *       ├───┼─────┤ kept  │                  asked for (view), failed allocations, stops (pins)
 *         ├─┼─────────────┼──► live
 *           │ ├───┤ not kept
 *
 * A list is thinned whenever it has doubled since it was last: it holds at most twice what was
 * live at the moments that count. What ended first comes first.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_PAST_H
#define GPUMEMTRACE_ANALYZER_REPLAY_PAST_H

#include "history.h"

void past_init(struct history *history);
void past_release(struct history *history);

/* Each keeps a copy of what has just ended, if a moment lies in its life. -1: out of memory. */
int past_end_block(struct history *history, const struct block *block, struct err *err);
int past_end_segment(struct history *history, const struct segment *segment, struct err *err);
int past_end_sample(struct history *history, const struct memory_sample *sample, struct err *err);
int past_end_usage(struct history *history, const struct mempool_usage *usage, struct err *err);

/* From now on the moment counts for every account. It is now, or a moment that counted until now. */
int past_pin(struct history *history, uint64_t index, struct err *err);
/* Pins that are no longer wanted fall away: those of failures that are no longer kept. */
void past_unpin(struct history *history, uint64_t index);

#endif
