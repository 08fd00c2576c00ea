/* SPDX-License-Identifier: MIT */
/*
 * Finds the age of the memory that is live at an account's peak. The memory was born in the step of
 * the peak, one or two steps before it, earlier, or in the first step. The first step counts
 * separately, because it allocates what is needed only once.
 */
#pragma once

#include "analyzer/replay/history/live_walk.h"
#include "step_watch.h"

enum age { AGE_THIS, AGE_BEFORE, AGE_TWO_BEFORE, AGE_EARLIER, AGE_FIRST, AGE_COUNT };

struct age_row {
    uint64_t bytes, count;
    uint64_t site_id, site_bytes; /* the site that holds most, and its bytes */
};

struct ages {
    uint64_t ordinal; /* step of the peak; 0: the trace has no steps */
    struct age_row rows[AGE_COUNT];
    struct age_row left; /* what the step before left needlessly */
};

/* left: takes the blocks that the step after their own cannot need */
int ages_at_peak(struct ages *ages, const struct step_watch *watch, const struct history *history,
                 uint32_t account, const struct block_filter *left, struct err *err);

/* "this step", "the step before" … */
const char *age_text(enum age age);
