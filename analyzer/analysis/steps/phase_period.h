/* SPDX-License-Identifier: MIT */
/*
 * Finds a phase that repeats and so marks the steps of a trace that names no steps, such as the
 * "batch" of a worker. The phase must have ended at least eight times, at a steady pace, over at
 * least a quarter of the trace. Two occurrences are of the same phase if they have the same name
 * and the same number of phases around them on their own thread. Each occurrence is a step, on any
 * thread. So there may be several workers, and workers may end and be replaced.
 *
 *     main      train ──────────────────────────────────
 *     worker 1    ├ batch ┤├ batch ┤├ batch ┤             depth 0, eight or more  ◄── are the steps
 *                  └ load   └ load   └ load               depth 1
 *     worker 2         ├ batch ┤├ batch ┤
 *
 * If several phases repeat, only the ones with the fewest phases around them count, and the one of
 * these that covers most ticks is taken. An "epoch" is no step. A function that a tool marked, such
 * as "aten::addmm", is no step either.
 */
#pragma once

#include "analyzer/replay/phase/spans.h"

/* Phases beyond these limits on number and depth are left out. */
enum { PHASE_PERIODS_MAX = 64, PHASE_PERIOD_DEEPEST = 16 };

struct phase_period {
    const char *name; /* owned by the trace */
    uint32_t depth;   /* number of explicit phases around it on its thread */
    uint64_t ends_count, first_end, last_end, longest_gap;
    uint64_t covered_count; /* ticks inside its occurrences */
};

/* Zeroed is ready for use. */
struct phase_periods {
    struct phase_period items[PHASE_PERIODS_MAX];
    size_t count;
    uint64_t *begins; /* by span: number of ticks before its begin */
    size_t begin_count, begin_capacity;
};

/* To be called when a span begins or ends, after `tick` ticks (growth_watch.h). Phases that were
 * inferred from stacks are left out. */
int phase_periods_begin(struct phase_periods *periods, uint32_t span, uint64_t tick,
                        struct err *err);
void phase_periods_end(struct phase_periods *periods, const struct cursor *at, uint32_t span,
                       uint64_t tick);
void phase_periods_release(struct phase_periods *periods);
/* The phase that marks the steps. NULL: no phase repeats like steps. */
const struct phase_period *phase_periods_find(const struct phase_periods *periods,
                                              uint64_t tick_count);
/* True if the span is an occurrence of the phase. */
bool phase_period_has(const struct phase_period *period, const struct history *history,
                      const struct spans *spans, uint32_t span);
