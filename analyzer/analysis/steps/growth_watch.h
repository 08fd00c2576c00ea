/* SPDX-License-Identifier: MIT */
/*
 * The live bytes and blocks of each call stack, and the bytes of each account, at the ends of the steps. A
 * call stack's were the same at all ends since it last changed, so it is touched only when it changes:
 *
 *     ends      0     1     2     3          at the change after end 3: [1, 4) had the old bytes
 *     changes  x            .        x
 *
 * Until the first step ends, every event that changes a block of a layer is an end (a tick), in case
 * the trace has no steps: allocations that repeat then tell how many ticks a step has. Other events,
 * as notes and marks, are none, so that they leave the figures alone. What was seen at ends is dropped
 * when the first step ends, and when a stronger kind of end shows. It must not know what growth is.
 *
 * It keeps a few numbers for each call stack and account, and a trend for those that changed twice
 * from end to end.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_GROWTH_WATCH_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_GROWTH_WATCH_H

#include "phase_period.h"
#include "trend.h"
#include "step_ends.h"
#include "analyzer/replay/history/observer.h"

/*
 * The first step is left out: caches, gradients and optimizer states are made in it. The first end
 * that is looked at is that of the second step.
 */
enum { WARM_UP_ENDS = 1, FEWEST_ENDS = 3 };

/* One call stack. What most changes touch stands first: it fits in two cache lines. */
struct site_ends {
    uint64_t live_bytes, live_count; /* now; how many blocks that is */
    uint64_t last_bytes, last_count; /* at the last end that was looked at */
    uint64_t ends_count;             /* that were looked at */
    struct trend trend;              /* of bytes; without samples: less than two changes */
    uint32_t stack_id;
    uint32_t rises_count, changes_count; /* of bytes, from one end to the next */
    bool fell;
    bool was_resized; /* a block of it went on in another size */
    bool is_of_graph; /* a backward is to go through one of its operators */
    uint64_t open_churn_bytes, open_churn_count; /* of the step that has not ended yet */
    uint64_t churn_bytes, churn_count;           /* born and freed in the same step */

    struct trend counts;               /* of blocks; its samples lie behind those of the bytes */
    uint64_t first_bytes, first_count; /* at the first end */
    uint64_t changed_at;               /* the first end with other bytes or blocks; 0: none */
    /* Births: the first and last tick that was one, the longest way between two. */
    uint64_t births_count, first_birth, last_birth, longest_gap;
    uint64_t most_live_count;    /* blocks at once, from the second birth on */
    uint64_t graph_births_count; /* of operators that a backward is to go through */
};

struct account_ends {
    uint32_t *numbers; /* by stack id: of its site, from 1; 0: none */
    size_t number_count, number_capacity;
    struct site_ends *sites;
    size_t count, capacity;
    bool is_pool;           /* of a framework */
    struct site_ends total; /* bytes of the account; stack_id and counts mean nothing */
};

/* With its ends it is ready for use, and empty. */
struct growth_watch {
    const struct step_ends *ends;  /* the caller's, found by an observer before this one */
    struct account_ends *accounts; /* by account */
    size_t account_count, account_capacity;
    struct phase_periods phases; /* until a step has ended */
    bool has_ended;              /* a step */
    bool has_graphs;             /* of autograd: a block is of one */
    uint64_t looked_count;       /* ends of steps that are looked at */
    uint64_t step_begin;         /* event that the current step began with */
    uint64_t tick_count;         /* events so far that changed a block of a layer */
    uint64_t tick_event;         /* the last of them */
    const struct trace *trace;
};

struct observer growth_watch_observer(struct growth_watch *watch);
void growth_watch_release(struct growth_watch *watch);

/* Whether so many steps have ended that growth can be told. */
static inline bool growth_watch_has_steps(const struct growth_watch *watch)
{
    return watch->looked_count >= FEWEST_ENDS;
}

#endif
