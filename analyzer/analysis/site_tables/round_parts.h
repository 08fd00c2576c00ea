/* SPDX-License-Identifier: MIT */
/*
 * The parts of the memory of a training at a moment, by the backwards (rounds) that began while it
 * was live:
 *
 *   PART_PASSING   fewer than two: it comes and goes with each step
 *   PART_ONCE      fewer than two, and its call stack allocated in one round only: the raw data
 *                  of a set, an evaluation
 *   PART_KEPT      at least two: a leak, or what one step uses in several backwards, such as
 *                  gradients of several batches or a batch of two losses
 *   PART_AFTER     made after the last backward, in a program without failures: its evaluation
 *   PART_BETWEEN   none, and its call stack allocated in few rounds: an evaluation between steps
 *   PART_LEFT      gradients of the last backward, beside an evaluation, which does not need them
 *   PART_STAYING   made once, or weights and states
 */
#pragma once

#include "analyzer/analysis/sites.h"

enum round_part {
    PART_PASSING,
    PART_ONCE,
    PART_KEPT,
    PART_AFTER,
    PART_BETWEEN,
    PART_LEFT,
    PART_STAYING,
    ROUND_PARTS
};

/* Finds the parts at event `index`, which must be a moment that the history keeps. `parts` must be
 * zeroed. The caller releases each part, even after a failure. */
int round_parts_at(struct sites parts[ROUND_PARTS], const struct categories *categories,
                   uint32_t account, uint64_t index, struct err *err);
/* True if the block belongs to PART_KEPT. */
bool round_part_is_kept(const struct categories *categories, const struct block *block);
