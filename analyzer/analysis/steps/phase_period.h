/* SPDX-License-Identifier: MIT */
/*
 * A phase that repeats, and so tells the steps of a trace that names none: a worker's "batch". At least
 * eight of them ended, at a steady pace, over at least a quarter of the trace. Phases are told apart by
 * name and by how many are around them on their own thread: whichever thread they are of, each is a
 * step, so workers may be several, and may end and be replaced.
 *
 *     main      train ──────────────────────────────────
 *     worker 1    ├ batch ┤├ batch ┤├ batch ┤             depth 0, eight and more  ◄── tell the steps
 *                  └ load   └ load   └ load               depth 1
 *     worker 2         ├ batch ┤├ batch ┤
 *
 * Of those with the fewest phases around them, the one that covers most counts. An "epoch" is no step,
 * nor is a function that a tool marked ("aten::addmm"). It must not know growth.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_PHASE_PERIOD_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_PHASE_PERIOD_H

#include "analyzer/replay/phase/spans.h"

enum { PHASE_PERIODS_MAX = 64, PHASE_PERIOD_DEEPEST = 16 }; /* what is beyond is not looked at */

struct phase_period {
    const char *name; /* the trace's */
    uint32_t depth;   /* explicit phases around it on its thread */
    uint64_t ends_count, first_end, last_end, longest_gap;
    uint64_t covered_count; /* ticks, of all occurrences */
};

/* Zeroed is ready for use. */
struct phase_periods {
    struct phase_period items[PHASE_PERIODS_MAX];
    size_t count;
    uint64_t *begins; /* by span: the ticks before it */
    size_t begin_count, begin_capacity;
};

/* A span begins or ends after so many ticks (growth_watch.h). What is inferred from stacks is left out. */
int phase_periods_begin(struct phase_periods *periods, uint32_t span, uint64_t tick,
                        struct err *err);
void phase_periods_end(struct phase_periods *periods, const struct cursor *at,
                       const struct spans *spans, uint32_t span, uint64_t tick);
void phase_periods_release(struct phase_periods *periods);
/* NULL: none tells the steps. */
const struct phase_period *phase_periods_find(const struct phase_periods *periods,
                                              uint64_t tick_count);
/* Whether that span is one of them. */
bool phase_period_has(const struct phase_period *period, const struct history *history,
                      const struct spans *spans, uint32_t span);

#endif
