/* SPDX-License-Identifier: MIT */
/*
 * How long the blocks of each place live. This tells a gradient from a temporary of backward, and
 * shows which places a loop allocates at again in each iteration. lives_watch watches the first
 * replay and keeps a few numbers for each account and place. The last failure is known only later,
 * so it also keeps a copy of the numbers for each refusal that may be the last failure.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_LIVES_H
#define GPUMEMTRACE_ANALYZER_REMEDY_LIVES_H

#include "analyzer/replay/history/observer.h"
#include "places.h"
#include "iterations.h"

struct place_life {
    uint64_t kept_bytes, passed_bytes; /* of blocks that outlived their phase; of the others */
    uint64_t live_count, high_count;   /* live blocks now, and the most at once */
    uint64_t fall_count;               /* most blocks that live_count fell below high_count */
    uint32_t births_count;
    /* Iterations in which blocks were born; valid if births_count is not 0. */
    uint32_t first_iteration, last_iteration;
};

/* The lives of one account, as of one event. */
struct lives {
    uint64_t index;      /* of a copy: event of the refusal */
    uint64_t peak_bytes; /* of a copy: the account's peak so far */
    struct iterations iterations;
    uint64_t iteration_index; /* event that began the current iteration; 0: it is the first */
    uint64_t bytes_by_part[PART_OPTIMIZER + 1]; /* allocated bytes */
    uint32_t optimized_iterations_count;
    struct place_life *items; /* by place */
    size_t count, capacity;
};

struct account_lives {
    struct lives now;
    uint64_t peak_iteration_index; /* where the iteration of the peak began */
    struct lives *refused; /* copies for the last failure so far and for undecided refusals */
    size_t refused_count, refused_capacity;
};

/* Zeroed is empty. */
struct lives_watch {
    struct places places;
    bool has_graphs; /* the trace has blocks that autograd keeps */
    struct account_lives *accounts;
    size_t account_count, account_capacity;
};

struct observer lives_watch_observer(struct lives_watch *watch);
void lives_watch_release(struct lives_watch *watch);

/*
 * The lives of an account as of a failure; failure == NULL: of the whole trace, with the iteration
 * of the peak. Blocks that ended after the failure, while it unwound the program, count like any
 * others; the refused request counts as born if it was this account's. To be called once, after the
 * replay. NULL: out of memory.
 */
const struct lives *lives_at(struct lives_watch *watch, const struct history *history,
                             uint32_t account, const struct failure *failure, struct err *err);

/* Zeros if no block was born at the place. */
struct place_life lives_of(const struct lives *lives, uint32_t place);
/* Its blocks were born in several iterations. */
bool life_recurs(const struct place_life *life);
/* It holds many blocks and has freed none. */
bool life_piles_up(const struct place_life *life);
/* Its blocks seldom outlive their phase. */
bool life_passes(const struct place_life *life);

#endif
