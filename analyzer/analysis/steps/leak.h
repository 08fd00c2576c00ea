/* SPDX-License-Identifier: MIT */
/*
 * Decides whether an account leaks, and where: its growth, without known caches and without amounts
 * that are too small to matter.
 *
 *   a leak       call stacks grow that are no caches, together by more than the floor; or the
 *                account grows, although none of its call stacks does and it holds no segments of
 *                a pool
 *   grows        no leak, but call stacks that are no caches enlarge their blocks (growth.h),
 *                together by more than the floor
 *   no leak      the account as a whole rises less than half as fast, or only caches grow, or by
 *                less than the floor
 *   cannot tell  no steps, too few, or bytes that vary more than they grow; or most of the growth
 *                is kept for a backward, and may be one forward that has not ended
 *                (growth.may_wait)
 *
 * The floor is the slope that would fill the card in ten million steps; if the card is unknown,
 * that would double the peak in as many.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_LEAK_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_LEAK_H

#include "growth.h"
#include "analyzer/symbol/symbols.h"

/* From best to worst. */
enum leak_verdict { LEAK_NONE, LEAK_UNKNOWN, LEAK_GROWS, LEAK_FOUND };
/* "no leak". */
const char *leak_verdict_name(enum leak_verdict verdict);

struct leak {
    enum leak_verdict verdict;
    double slope, low, high; /* bytes per step that are kept, without caches; 0: none */
    double enlarged_slope, enlarged_low, enlarged_high; /* the same for blocks that are enlarged */
    double copied_slope;   /* of the largest of them, which exists twice while it is copied */
    double peak_slope;     /* rise of the peak per step, without amounts that do not matter */
    double check_slope;    /* kept or enlarged, with amounts below the floor */
    double waiting_slope;  /* part of slope that is kept for a backward: it may be one forward's */
    bool waits;            /* waiting_slope is at least half of slope, so there is no verdict */
    double cache_slope;    /* of known caches; 0: none grows */
    const char *cache;     /* name of the steepest one */
    double left_out_slope; /* of stacks in left_out */
    double floor;
    size_t count;     /* number of call stacks that leak */
    bool keeps_graph; /* autograd keeps blocks of one of them */
};

/*
 * room_bytes: size of the card, else the account's peak. left_out, by stack id: stacks of a pool's
 * segments, because the pool's own account counts its blocks; NULL: none.
 */
int leak_find(struct leak *leak, const struct growth *growth, struct symbols *symbols,
              const bool *left_out, uint64_t room_bytes, struct err *err);

#endif
