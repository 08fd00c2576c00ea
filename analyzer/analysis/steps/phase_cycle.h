/* SPDX-License-Identifier: MIT */
/*
 * Phases of one kind that alternate within a step, as the optimizers of two networks do. They
 * differ by path and by caller (inferred.h). One of them closes the cycle:
 *
 *     D G D G          G: the newest phase, while the cycle has closed at most eight times
 *     D D G G D D G G  the first G after a D. If D stops coming, each G again, after as many as in
 *                      the last row
 *     A A … A B A B    A: B came too late, and only as often
 *     D … D D G D D G  G, though it came late: at the third G with as many D between, 2 to 8
 *     A A … A B B B B  B: since the last A, the others ended more than twice as often, plus two, as
 *                      ever between two A
 *
 * If a new phase closes by the first or the fourth row, the cycles closed before are void.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_PHASE_CYCLE_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_PHASE_CYCLE_H

#include "analyzer/replay/phase/spans.h"

enum { CYCLE_PHASES_MAX = 16 };

/* One of the alternating phases. */
struct cycle_phase {
    uint32_t path;
    struct inferred_caller caller;
    uint64_t closes_before; /* how often the cycle had closed at its last end */
    uint64_t gap;           /* how often it closed between the last two ends */
    uint32_t same_gaps;     /* how often in a row the gap was the same */
};

/* Zeroed is ready for use. */
struct phase_cycle {
    struct cycle_phase items[CYCLE_PHASES_MAX];
    uint32_t count, closing;
    uint64_t closes_count, ends_count;
    uint64_t others_count,
        most_others_count; /* other ends since the cycle closed; the most between two */
    bool follows_others;   /* the closing phase closes only after another one */
    uint64_t same_count;   /* how often in a row it came without another one between */
};

/* CYCLE_CLOSES_ANEW: another phase closes from now on, and cycles closed before are void. */
enum cycle_end { CYCLE_GOES_ON, CYCLE_CLOSES, CYCLE_CLOSES_ANEW };

/* To be called at the end of a phase. Phases beyond CYCLE_PHASES_MAX close no cycle. */
enum cycle_end phase_cycle_end(struct phase_cycle *cycle, const struct span *span);

#endif
