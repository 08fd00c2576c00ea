/* SPDX-License-Identifier: MIT */
/*
 * The blocks that are live right after an event, without looking at every block of the trace: the
 * history keeps lists of the live blocks at some changes, and a walk goes through the last list
 * before the event and the births since then. It must not know why somebody asks.
 *
 *     changes   ──┬───────────────┬───────────────┬──────►      a list is kept whenever as many
 *                 list 0          list 1     ▲    list 2        changes as it has blocks (at least
 *                                            event              LIVE_LIST_CHANGES) have passed
 *
 * All lists together hold no more entries than there are changes, and a walk costs the blocks of
 * one list plus the changes up to the next list.
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

/* Makes the lists, from the blocks and changes of the history. */
int live_lists_build(struct history *history, struct err *err);

struct live_walk live_walk_begin(const struct history *history, uint32_t index);
/* The next live block, in no particular order; NULL: there are no more. */
const struct block *live_walk_next(struct live_walk *walk);

#endif
