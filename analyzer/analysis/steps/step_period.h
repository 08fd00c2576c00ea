/* SPDX-License-Identifier: MIT */
/*
 * Follows the rounds of a program that marks no steps, so that they end its steps. The rounds are
 * known from an earlier replay: phase_period.h finds a phase, site_period.h finds call stacks.
 *
 * If call stacks tell the rounds, a round begins when the program comes back to a line: its first
 * allocation there ends the step before. If the last round is whole, it ends at the point where the
 * round before it ended, counted in frees after its last allocation.
 *
 *     births  x a b b c   a b b c   a b b c        x: before the rounds
 *     frees            ││        ││        ││ ││││  at exit, no part of a round
 *     ends               ▲         ▲         ▲
 *
 * A round that begins in the same backward as the round before it ends no step, because it is a
 * part of that backward, such as a layer that a checkpoint computes again.
 */
#pragma once

#include "phase_period.h"
#include "analyzer/replay/history/observer.h"

enum round_role {
    ROUND_PART = 1,   /* allocates in a round */
    ROUND_BEGINS = 2, /* allocates below the line that begins a round */
    ROUND_DROPS = 4,  /* a round begins after blocks of it were freed */
    /* Allocates in a model that each round calls with something made outside. All else that
     * repeats may be the layers of one forward, or the experts of a mixture, which keep what their
     * backward needs. */
    ROUND_FED = 8,
};

/* Zeroed: no rounds are known. */
struct step_period {
    struct phase_period phase; /* name NULL: none */
    unsigned char *roles;      /* by stack id: sum of enum round_role; NULL: no stacks tell it */
    size_t role_count;
    uint32_t account;                   /* of these blocks; HISTORY_NONE: of all accounts */
    uint64_t site_id;                   /* the first site that begins a round */
    uint64_t work_count;                /* nodes and pairs looked at; a test bounds it */
    bool is_last_whole;                 /* the last round is whole */
    uint64_t births_left;               /* allocations in rounds that are still to come */
    uint64_t begins_count;              /* rounds that began so far */
    uint64_t frees_count, frees_at_end; /* since the last birth; at the end of the last step */
    bool is_beginning, has_dropped;     /* of the last birth; since the last birth */
    uint32_t backward; /* in which the last round began, numbered from 1; 0: in none */
};

static inline bool step_period_is_known(const struct step_period *period)
{
    return period->phase.name || period->roles;
}

/* The sum of enum round_role of a call stack. */
static inline unsigned step_period_role(const struct step_period *period, uint32_t stack_id)
{
    return stack_id < period->role_count ? period->roles[stack_id] : 0;
}

void step_period_release(struct step_period *period);

/* To be called for each change of a block. Returns true if the change begins another round that
 * ends a step. */
bool step_period_change(struct step_period *period, const struct history *history,
                        const struct change *change);
/* To be called after the changes of each event. Returns true if the last round ends with it. */
bool step_period_is_over(struct step_period *period);
