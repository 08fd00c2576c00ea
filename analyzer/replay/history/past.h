/* SPDX-License-Identifier: MIT */
/*
 * Copies of ended blocks, segments, samples and usages that were live at a kept moment. Together
 * with the objects that are live at the end, they are all objects that were live at that moment.
 *
 *     ──────┬─────────────┬───────────►      moments that move or disappear: each account's peaks,
 *           │ moment      │ now              the card's last sample; moments that stay: the
 *       ├───┼─────┤ kept  │                  requested moment, failed allocations, stops (pins)
 *         ├─┼─────────────┼──► live
 *           │ ├───┤ not kept
 *
 * A list is pruned when it has grown by a quarter since its last pruning, if it has at least 1024
 * items. Its length is therefore bounded by what was live at the kept moments. The items are in the
 * order of their ends.
 */
#pragma once

#include "history.h"

void past_init(struct history *history);
void past_release(struct history *history);

/* Each function keeps a copy of the object if a kept moment lies in the object's life. -1: out of
 * memory. */
int past_end_block(struct history *history, const struct block *block, struct err *err);
int past_end_segment(struct history *history, const struct segment *segment, struct err *err);
int past_end_sample(struct history *history, const struct memory_sample *sample, struct err *err);
int past_end_usage(struct history *history, const struct mempool_usage *usage, struct err *err);

/*
 * Keeps the moment for every account from now on. It must be the current moment, or one that was
 * kept until now.
 */
int past_pin(struct history *history, uint64_t index, struct err *err);
/* Removes a pin, such as that of a dropped failure. */
void past_unpin(struct history *history, uint64_t index);
