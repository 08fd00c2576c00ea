/* SPDX-License-Identifier: MIT */
/*
 * Walks the blocks and segments of one account that were live at a kept moment (past.h), or are
 * live at the end.
 *
 * Many analyses ask for the same failure or peak, each for its own account. Therefore pointers to
 * the live blocks of the last few moments are cached. Ended blocks that began after the moment are
 * skipped in runs of many at once.
 */
#pragma once

#include "history.h"

/*
 * Call it once, when the history is complete. Before that, each walk reads all blocks. -1: out of
 * memory.
 */
int live_sets_init(struct history *history, struct err *err);
void live_sets_release(struct history *history);

/* Chooses blocks. */
struct block_filter {
    const void *self;
    bool (*takes)(const void *self, const struct block *block);
};

/* At most LIVE_SETS walks of different moments may be open at once. */
enum { LIVE_SETS = 4 };
struct live_walk {
    const struct history *history;
    const struct live_set *set; /* NULL: not cached */
    uint32_t account;
    uint64_t index;
    size_t live, ended; /* position in both lists; with a set, `live` in the set */
};

struct live_walk live_walk_begin(const struct history *history, uint32_t account, uint64_t index);

/* The next block that was live at the event, in no particular order; NULL: there are no more. */
const struct block *live_walk_next(struct live_walk *walk);
/* The next live segment of a framework pool. Use a walk either for blocks or for segments. */
const struct segment *live_walk_next_segment(struct live_walk *walk);
