/* SPDX-License-Identifier: MIT */
/*
 * The step of an account that stands out, beside a typical one, and why: what it began with, call stacks
 * that other steps do not have, or the same call stacks with more bytes. It must not know names, nor
 * whether what was there at its beginning is a leak.
 *
 *   the step    the one in which an allocation failed and which did not end, else the highest
 *   typical     the median of the peaks of the first steps of the windows (step_watch.h); likewise of
 *               what is live at the beginning, and of the rise from there to the peak
 *   cause       none if the peak is within a tenth of the typical one; what it began with if that is at
 *               least half of the excess; else new call stacks, or more bytes of known ones: whichever
 *               is more. A step that did not end may have died before it could exceed a typical one,
 *               and allocated only in part: there, larger blocks count as the typical rise times what
 *               they are larger, and the most of the three is the cause, unless it is less than a
 *               twentieth of the typical peak
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_OUTLIER_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_OUTLIER_H

#include "step_watch.h"

enum outlier_cause {
    OUTLIER_NONE,
    OUTLIER_FIRST, /* it is the first step, which holds what is made once */
    OUTLIER_BEGAN, /* more was live when it began */
    OUTLIER_NEW,   /* call stacks that allocate in no other step */
    OUTLIER_MORE,  /* more bytes at call stacks of other steps */
};

/* What a call stack, in a backward for one forward operator, allocated in the step, and on average in the others that it allocated in. */
struct outlier_site {
    uint32_t stack_id, forward_stack_id;
    uint64_t bytes;
    double typical_bytes; /* 0: in no other step */
};

struct outlier {
    bool has_typical; /* a step after the first has ended */
    uint64_t typical_peak_bytes, typical_start_bytes, typical_rise_bytes;
    struct step step;
    bool is_open;                  /* it did not end */
    const struct failure *failure; /* why not; NULL unless is_open */
    enum outlier_cause cause;
    double cause_bytes;         /* what it explains of a step that did not end */
    struct outlier_site *sites; /* more than typical; the most more first */
    size_t count;
    uint64_t new_bytes;
    double more_bytes, more_ratio; /* of the sites that are not new: bytes / typical bytes */
    double larger_ratio; /* the largest block of each known site / what it is on average; 0: none */
};

int outlier_find(struct outlier *outlier, const struct step_watch *watch,
                 const struct history *history, uint32_t account, struct err *err);
void outlier_release(struct outlier *outlier);

#endif
