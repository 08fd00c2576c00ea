/* SPDX-License-Identifier: MIT */
/*
 * Growth: call stacks whose live bytes at the ends of the steps rise and never fall. What is live
 * at the exit is sites_at the last event; whether that is a leak is for the reader to decide.
 *
 * A step ends at its STEP event; without such events, where a phase named step or iteration ends;
 * without those, where an inferred optimizer or else backward phase ends. The first step is left
 * out: caches, gradients and optimizer states are allocated in it. A site grows if, over at least
 * three later ends, its bytes never fall and rise in at least half of the intervals.
 *
 * It watches the replay, and keeps a few numbers for each call stack and stock.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_LEAKS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_LEAKS_H

#include "analyzer/replay/history/observer.h"

struct growing {
    uint32_t stack_id;
    uint64_t first_bytes, last_bytes; /* at the first and last end that was looked at */
    uint64_t rises_count;
    double bytes_per_step;
};

struct growth {
    struct growing *items; /* the largest bytes_per_step first */
    size_t count;
    uint64_t ends_count; /* step ends in the trace, the first included */
};

/* What may end a step; the first kind that a trace has decides. */
enum step_end {
    STEP_END_EVENT,
    STEP_END_NAMED,
    STEP_END_OPTIMIZER,
    STEP_END_BACKWARD, /* if the optimizer allocates nothing, backward is the last phase */
    STEP_ENDS,
};

/* Zeroed is empty and ready for use. */
struct growth_watch {
    struct stock_growth *stocks; /* by stock */
    size_t stock_count, stock_capacity;
    uint64_t ends_count[STEP_ENDS];
    uint64_t pending_count[STEP_ENDS]; /* ended at the current event */
};

struct observer growth_watch_observer(struct growth_watch *watch);
void growth_watch_release(struct growth_watch *watch);

int growth_find(struct growth *growth, const struct growth_watch *watch, uint32_t stock,
                struct err *err);
void growth_release(struct growth *growth);

#endif
