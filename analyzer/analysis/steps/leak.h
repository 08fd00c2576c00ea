/* SPDX-License-Identifier: MIT */
/*
 * Whether an account leaks, and where: the verdict on its growth, less what known caches keep, less
 * what is too little to matter. It must not know how it is said.
 *
 *   a leak       call stacks grow that are no caches, and together by more than the floor; or the
 *                account grows and no call stack of it does, nor a pool that it is for
 *   grows        no leak, but call stacks that are no caches make their blocks larger (growth.h), together
 *                by more than the floor
 *   no leak      the account as a whole rises less than half as fast, or what it grows by is a cache's
 *                or below the floor
 *   cannot tell  no steps, too few, or bytes that vary more than they grow; or most of what is kept is kept
 *                for a backward, and may be one forward's that has not ended (growth.may_wait)
 *
 * The floor: what would fill the card in ten million steps; where the card is not known, what would
 * double the peak in as many.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_LEAK_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_LEAK_H

#include "growth.h"
#include "analyzer/symbol/symbols.h"

/* The worst last. */
enum leak_verdict { LEAK_NONE, LEAK_UNKNOWN, LEAK_GROWS, LEAK_FOUND };
/* "no leak". */
const char *leak_verdict_name(enum leak_verdict verdict);

struct leak {
    enum leak_verdict verdict;
    double slope, low, high; /* bytes per step of what is kept and no cache; 0: nothing is */
    double enlarged_slope, enlarged_low, enlarged_high; /* of blocks that are made larger */
    double copied_slope;   /* of the largest of them, which is there twice until it is copied */
    double peak_slope;     /* by which each step's peak is higher, of what matters */
    double check_slope;    /* of what is kept or made larger, with what is below the floor */
    double waiting_slope;  /* of what is kept for a backward: it may be one forward's */
    bool waits;            /* which is most, so that nothing can be told */
    double cache_slope;    /* of known caches; 0: none grows */
    const char *cache;     /* the name of the largest of them */
    double left_out_slope; /* of what was left out */
    double floor;
    size_t count;     /* call stacks that leak */
    bool keeps_graph; /* one of them is of a graph of autograd */
};

/*
 * room_bytes: of the card, or of the account's peak. left_out, by stack id: what a pool took to hand
 * out in pieces, which count in its own account; NULL: nothing.
 */
int leak_find(struct leak *leak, const struct growth *growth, struct symbols *symbols,
              const bool *left_out, uint64_t room_bytes, struct err *err);

#endif
