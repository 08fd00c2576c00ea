/* SPDX-License-Identifier: MIT */
/*
 * Growth: call stacks whose live bytes at the ends of the steps rise and never fall. What is live
 * at the exit is sites_at the last event; whether that is a leak is for the reader to decide.
 *
 * A step ends at its STEP event; without such events, where a phase named step or iteration ends.
 * The first step is left out: caches, gradients and optimizer states are allocated in it. A site grows if,
 * over at least three later ends, its bytes never fall and rise in at least half of the intervals.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_LEAKS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_LEAKS_H

#include "analyzer/replay/history.h"

struct growing {
    uint32_t stack_id;
    uint64_t first_bytes, last_bytes; /* at the first and last end that was looked at */
    uint64_t rises_count;
    double bytes_per_step;
};

struct growth {
    struct growing *items; /* the largest bytes_per_step first */
    size_t count;
    size_t ends_count; /* step ends in the trace, the first included */
};

int growth_find(struct growth *growth, const struct history *history, uint32_t stock,
                struct err *err);
void growth_release(struct growth *growth);

#endif
