/* SPDX-License-Identifier: MIT */
/*
 * What was live at a moment that counts (past.h), or is live at the end: the blocks and segments of
 * one account. It must not know why somebody asks.
 *
 * Of a failure or a peak many ask, each for its account: what was live at the last few moments that were
 * walked is kept, by reference. Of what has ended only those are looked at that may have begun before.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_LIVE_WALK_H
#define GPUMEMTRACE_ANALYZER_REPLAY_LIVE_WALK_H

#include "history.h"

/* Once, when the history is complete; before, each walk looks at everything. -1: out of memory. */
int live_sets_init(struct history *history, struct err *err);
void live_sets_release(struct history *history);

/* No more than LIVE_SETS walks of different moments at once. */
enum { LIVE_SETS = 4 };
struct live_walk {
    const struct history *history;
    const struct live_set *set; /* NULL: there is none of this moment */
    uint32_t account;
    uint64_t index;
    size_t live, ended; /* how many of both lists, or of the set, were looked at */
};

struct live_walk live_walk_begin(const struct history *history, uint32_t account, uint64_t index);

/* The next one that was live at the event, in no particular order; NULL: there are no more. */
const struct block *live_walk_next(struct live_walk *walk);
/* The same of the segments of a framework pool; a walk is for one of the two. */
const struct segment *live_walk_next_segment(struct live_walk *walk);

#endif
