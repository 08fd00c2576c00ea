/* SPDX-License-Identifier: MIT */
/*
 * Whether a stock leaks, and where: the verdict on its growth, less what known caches keep, less
 * what is too little to matter. It must not know how it is said.
 *
 *   a leak       call stacks grow that are no caches, and together by more than the floor; or the
 *                stock grows and no call stack of it does
 *   no leak      the stock as a whole rises less than half as fast, or what it grows by is a cache's
 *                or below the floor
 *   cannot tell  no steps, too few, or bytes that vary more than they grow
 *
 * The floor: what would fill the card in ten million steps; where the card is not known, what would
 * double the peak in as many.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_LEAK_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_LEAK_H

#include "growth.h"
#include "analyzer/symbol/symbols.h"

enum leak_verdict { LEAK_UNKNOWN, LEAK_NONE, LEAK_FOUND };

struct leak {
    enum leak_verdict verdict;
    double slope, low, high; /* bytes per step of what is no cache; 0: nothing grows */
    double cache_slope;      /* of known caches; 0: none grows */
    const char *cache;       /* the name of the largest of them */
    double left_out_slope;   /* of what was left out */
    double floor;
    size_t count; /* call stacks that leak */
};

/*
 * room_bytes: of the card, or of the stock's peak. left_out, by stack id: what a pool took to hand
 * out in pieces, which count in its own stock; NULL: nothing.
 */
int leak_find(struct leak *leak, const struct growth *growth, struct symbols *symbols,
              const bool *left_out, uint64_t room_bytes, struct err *err);

#endif
