/* SPDX-License-Identifier: MIT */
/*
 * Growth per step: the line through the live bytes at the ends of the steps (trend.h), of an account
 * as a whole and of each of its call stacks, with a verdict.
 *
 *   grows        the line rises, with 95 % confidence or because the bytes never fell and rose in
 *                at least half of the steps; and the last third of the steps rises at least a
 *                quarter as fast
 *   flat         it does not rise, or the last third does not, or the second half never holds more
 *                than the first
 *   cannot tell  less than three ends after the first step, or bytes that vary more than they rise
 *
 * What grows keeps ever more blocks, or it makes those that it has larger, as a list that is copied to
 * twice the room and a cache that a longer one replaces: then it is as many blocks throughout that last
 * third, and none of them was resized where it is (as the pool of graphs, which may hold any number).
 *
 * A step ends as step_ends.h says; one that has begun, as a first backward that fails, is a step of its
 * own. In a trace without steps one is the time between the ends of a phase
 * that repeats (phase_period.h), else between two births at a call stack that does: site_period.h. The bytes
 * are then the least in windows of at least a step.
 *
 * It must not know names. What grows may be a cache: cache_names.h.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_GROWTH_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_GROWTH_H

#include "growth_watch.h"

enum growth_verdict { GROWTH_UNKNOWN, GROWTH_FLAT, GROWTH_GROWS };

/* Bytes per step. */
struct growth_line {
    enum growth_verdict verdict;
    bool has_slope; /* false: too few steps, the next three mean nothing */
    double slope, low, high;
};

struct growing {
    uint32_t stack_id;
    uint64_t enlarged_count; /* as many blocks as before, made larger; 0: ever more of them */
    bool waits;              /* most of them, for a backward, where growth.may_wait */
    bool is_of_graph;        /* a backward is to go through an operator that made one */
    uint64_t first_bytes, last_bytes; /* at the first and last end that was looked at */
    uint64_t rises_count;
    struct growth_line line;
};

/* What a call stack allocated and freed again within the same step. */
struct churning {
    uint32_t stack_id;
    uint64_t bytes, count; /* of all steps */
};

enum growth_steps {
    GROWTH_NO_STEPS,
    GROWTH_STEPS_ENDED,  /* of kind `ends` */
    GROWTH_STEPS_PHASE,  /* the phase `phase` ends each */
    GROWTH_STEPS_REPEAT, /* the call stack `repeats` allocates once in each */
};

enum { GROWTH_CHURN_MAX = 1000 };

struct growth {
    enum growth_steps steps;
    enum step_end ends;
    struct phase_period phase;
    uint32_t repeats;
    /* Nothing is made outside a model for each call of it, and no backward began: all that repeats may be one
     * forward, as layers and the experts of a mixture, which keeps what its backward will need. */
    bool may_wait;
    double period_ticks;
    uint64_t ends_count;    /* steps in the trace, the first included */
    uint64_t counted_steps; /* whose churn was counted */
    struct growth_line total;
    struct growing *items; /* what grows, the largest slope first */
    size_t count;
    struct churning *churn; /* the most bytes first, at most GROWTH_CHURN_MAX */
    size_t churn_count;
};

int growth_find(struct growth *growth, const struct growth_watch *watch, uint32_t account,
                struct err *err);
void growth_release(struct growth *growth);

/* What ends its steps; STEP_ENDS: nothing. */
static inline enum step_end growth_step_end(const struct growth *growth)
{
    return growth->steps == GROWTH_STEPS_PHASE    ? STEP_END_PHASE
           : growth->steps == GROWTH_STEPS_REPEAT ? STEP_END_REPEATED
                                                  : growth->ends;
}

/* Whether most that grows waits for a backward, so that what repeats may be layers and no steps. */
static inline bool growth_waits(const struct growth *growth)
{
    return growth->count && growth->items[0].waits;
}

#endif
