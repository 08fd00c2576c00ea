/* SPDX-License-Identifier: MIT */
/*
 * What was live at a moment that counts (past.h), or is live at the end: the blocks and segments of
 * one stock. It must not know why somebody asks.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_LIVE_WALK_H
#define GPUMEMTRACE_ANALYZER_REPLAY_LIVE_WALK_H

#include "history.h"

struct live_walk {
    const struct history *history;
    uint32_t stock;
    uint64_t index;
    size_t live, ended; /* how many of both lists were looked at */
};

struct live_walk live_walk_begin(const struct history *history, uint32_t stock, uint64_t index);

/* The next one that was live at the event, in no particular order; NULL: there are no more. */
const struct block *live_walk_next(struct live_walk *walk);
/* The same of the segments of a framework pool; a walk is for one of the two. */
const struct segment *live_walk_next_segment(struct live_walk *walk);

#endif
