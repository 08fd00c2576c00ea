/* SPDX-License-Identifier: MIT */
/*
 * Phases of one kind that take turns within a step, as the optimizers of two networks do. They are
 * told apart by path and by who called (inferred.h), and one of them closes the cycle:
 *
 *     D G D G          G: the last that was new when nothing had closed more than eight times
 *     D D G G D D G G  the first G after a D; if D stays away, each G: when as many have come as below
 *     A A … A B A B    A: B came late, and as often
 *     D … D D G D D G  G, though it came late: the third time that as many D lie between, 2 to 8
 *     A A … A B B B B  then B: the others ended more than twice as often since A as ever between two
 *                      of them, and twice more
 *
 * The first and third time another one than before closes, all is counted anew. It must not know steps.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_PHASE_CYCLE_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_PHASE_CYCLE_H

#include "analyzer/replay/phase/spans.h"

enum { CYCLE_PHASES_MAX = 16 };

/* One of those that take turns. */
struct cycle_phase {
    uint32_t path;
    struct inferred_caller caller;
    uint64_t closes_before; /* how often the cycle was closed before its last end */
    uint64_t gap;           /* how often between its last two ends */
    uint32_t same_gaps;     /* how often in a row the gap was the same */
};

/* Zeroed is ready for use. */
struct phase_cycle {
    struct cycle_phase items[CYCLE_PHASES_MAX];
    uint32_t count, closing;
    uint64_t closes_count, ends_count;
    uint64_t others_count,
        most_others_count; /* ends since the cycle was closed, at most between two */
    bool follows_others;   /* the one that closes does so only after another one */
    uint64_t same_count;   /* how often in a row it came after none */
};

/* CYCLE_CLOSES_ANEW: another one closes from now on, and what was closed before is void. */
enum cycle_end { CYCLE_GOES_ON, CYCLE_CLOSES, CYCLE_CLOSES_ANEW };

/* A phase ends. More than CYCLE_PHASES_MAX of them cannot be told apart: those beyond close no cycle. */
enum cycle_end phase_cycle_end(struct phase_cycle *cycle, const struct span *span);

#endif
