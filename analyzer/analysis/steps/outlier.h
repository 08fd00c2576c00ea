/* SPDX-License-Identifier: MIT */
/*
 * Compares the step that stands out in an account with a typical step, and finds the cause: more
 * memory at its beginning, call stacks that other steps do not have, or more bytes at the same call
 * stacks.
 *
 *   the step    The step in which an allocation failed and which did not end. If there is none, the
 *               step with the highest peak.
 *   typical     The typical peak is the median of the peaks of the first steps of the windows
 *               (step_watch.h). The typical bytes at the beginning, and the typical rise from there
 *               to the peak, are medians of the same steps.
 *   cause       None, if the peak is within a tenth of the typical peak. The beginning, if it
 *               explains at least half of the excess. Else new call stacks, or more bytes at known
 *               call stacks, whichever is more; if both are nothing, more was live at once.
 *               A step that did not end follows another rule, because it allocated only in part and
 *               may have failed before it could exceed a typical step. Memory of its beginning
 *               counts if it is still held at the failure. Its larger blocks count as the typical
 *               rise times their relative excess, or as the excess of those that it holds, if that
 *               is more: a step may replace what the one before left. The largest of the three
 *               amounts is the cause, unless it is less than a twentieth of the typical peak.
 *               The first step, which also loads the model, has new call stacks anyway. Its cause
 *               is more bytes at known ones if its larger blocks, counted in the same way at its
 *               peak, explain at least half of the excess, or else that it is the first.
 *   new         A call stack that allocated in less than half of the other steps, as one of an
 *               evaluation between steps.
 */
#pragma once

#include "step_watch.h"

enum outlier_cause {
    OUTLIER_NONE,
    OUTLIER_FIRST, /* the first step, which allocates what is needed only once */
    OUTLIER_BEGAN, /* more was live at the beginning of the step */
    OUTLIER_NEW,   /* call stacks that allocate in few other steps, or in none */
    OUTLIER_MORE,  /* more bytes at call stacks of other steps */
    OUTLIER_KEPT,  /* no call stack allocated more, but more was live at once */
};

/* A call stack, in a backward together with one forward operator: the bytes that it allocated in
 * the step, and its average over all other steps except the first. */
struct outlier_site {
    uint64_t site_id;
    uint64_t bytes;
    double typical_bytes; /* 0: allocated in no other step */
    bool is_new;
    uint64_t held_bytes; /* live at the failure of the step, or at the peak of the first step */
    double larger_ratio; /* its largest block / the average of its largest ones; 0: no other */
};

/* The part of held_bytes that is due to larger blocks. */
static inline double outlier_larger_bytes(const struct outlier_site *site)
{
    return site->larger_ratio > 1 ? (double)site->held_bytes * (1 - 1 / site->larger_ratio) : 0;
}

struct outlier {
    bool has_typical; /* a step after the first has ended */
    uint64_t typical_peak_bytes, typical_start_bytes, typical_rise_bytes;
    struct step step;
    bool is_open;                  /* the step did not end */
    const struct failure *failure; /* the reason; NULL unless is_open */
    bool request_is_new; /* less than half of the other steps allocated at the failure's stack */
    enum outlier_cause cause;
    double cause_bytes;         /* bytes that the cause explains of a step that did not end */
    struct outlier_site *sites; /* sites above their typical bytes; by excess, descending */
    size_t count;
    uint64_t new_bytes;
    bool new_has_others;           /* a new site allocated in other steps, too */
    uint64_t before_bytes;         /* of earlier steps, held when the step failed */
    double more_bytes, more_ratio; /* of the sites that are not new; ratio: bytes / typical */
    double larger_ratio; /* sum of the known sites' largest blocks / typical sum; 0: no sites */
};

int outlier_find(struct outlier *outlier, const struct step_watch *watch,
                 const struct history *history, uint32_t account, struct err *err);
void outlier_release(struct outlier *outlier);
