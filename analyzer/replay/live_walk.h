/* SPDX-License-Identifier: MIT */
/*
 * The blocks that are live right after an event, without looking at all there ever were: the
 * history keeps lists of live blocks at some changes, and a walk goes through the nearest one
 * before the event and the births since.
 *
 *     changes   ──┬───────────────┬───────────────┬──────►      a list is kept whenever as many
 *                 list 0          list 1     ▲    list 2        changes as it has blocks (at least
 *                                            event              LIVE_LIST_CHANGES) have passed
 *
 * So all lists together hold no more entries than there are changes, and a walk costs the live
 * blocks plus one stretch between lists.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_LIVE_WALK_H
#define GPUMEMTRACE_ANALYZER_REPLAY_LIVE_WALK_H

#include "history.h"

#define LIVE_LIST_CHANGES 4096

struct live_walk {
    const struct history *history;
    uint32_t index;
    size_t listed, listed_end; /* in history->live_listed */
    size_t change, change_end;
};

/* Keeps the lists; the last step of history_build. */
int live_lists_build(struct history *history, struct err *err);

struct live_walk live_walk_begin(const struct history *history, uint32_t index);
/* The next live block, in no particular order; NULL: that was all. */
const struct block *live_walk_next(struct live_walk *walk);

#endif
