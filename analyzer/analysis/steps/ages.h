/* SPDX-License-Identifier: MIT */
/*
 * How old the memory is that is live at an account's peak: born in the step of the peak, in the step
 * before, two steps before, earlier, or in the first step, which holds what is made once. It must not
 * know names.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_AGES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_AGES_H

#include "step_watch.h"

enum age { AGE_THIS, AGE_BEFORE, AGE_TWO_BEFORE, AGE_EARLIER, AGE_FIRST, AGE_COUNT };

struct age_row {
    uint64_t bytes, count;
    uint32_t stack_id, forward_stack_id; /* that hold most of it; as a block's */
    uint64_t stack_bytes;                /* by those */
};

struct ages {
    uint64_t ordinal; /* of the step of the peak; 0: the trace has no steps */
    struct age_row rows[AGE_COUNT];
};

int ages_at_peak(struct ages *ages, const struct step_watch *watch, const struct history *history,
                 uint32_t account, struct err *err);

/* "this step", "the step before" … */
const char *age_text(enum age age);

#endif
