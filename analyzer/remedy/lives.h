/* SPDX-License-Identifier: MIT */
/*
 * Tells how long the blocks of each place live. This tells a gradient from a temporary of backward,
 * and shows at which places a loop allocates again in each iteration. lives_watch watches the first
 * replay and keeps a few numbers for each account and place. Only the end of the replay shows which
 * failure is the last one, so lives_watch also keeps a copy of the numbers for each refusal that
 * may be the last failure.
 */
#pragma once

#include "analyzer/analysis/steps/rising.h"
#include "analyzer/replay/history/observer.h"
#include "places.h"
#include "iterations.h"

struct place_life {
    /* bytes of blocks that outlived their phase, and of all other blocks */
    uint64_t kept_bytes, passed_bytes;
    /* the live blocks now, and the highest number of live blocks */
    uint64_t live_count, high_count;
    /* the largest difference by which live_count fell below high_count */
    uint64_t fall_count;
    uint64_t newest_index;   /* event of the last birth */
    uint32_t replaced_count; /* blocks that ended after the birth of another one */
    uint32_t births_count;
    bool is_of_step; /* the blocks are made between backward and the optimizer's step */
    /* Iterations in which blocks were born; valid if births_count is not 0. */
    uint32_t first_iteration, last_iteration;
    struct rising rising; /* of the sizes of its blocks */
    /* If the place is a maker: the events at which its last two runs began. A run is a series of
     * births without one of another maker. */
    uint64_t run_index, earlier_run_index;
};

/* The lives of the blocks of one account, up to one event. */
struct lives {
    uint64_t index;      /* in a copy: the event of the refusal */
    uint64_t peak_bytes; /* in a copy: the account's peak so far */
    struct iterations iterations;
    /* the event that began the current iteration; 0: the first iteration */
    uint64_t iteration_index;
    uint64_t bytes_by_part[PART_OPTIMIZER + 1]; /* allocated bytes */
    uint64_t batch_bytes;                       /* inputs of the current iteration */
    /* allocated by forward in the current iteration, and most in one earlier iteration */
    uint64_t forward_bytes, most_forward_bytes;
    /* Births of work: of any part but init and the optimizer, because these load a checkpoint. The
     * last one, the last one up to the account's peak, and the first one after it. 0: none. */
    uint64_t work_index, work_before_peak, work_after_peak;
    uint32_t optimized_iterations_count;
    uint32_t maker;           /* of the last block */
    struct place_life *items; /* by place */
    size_t count, capacity;
};

struct account_lives {
    struct lives now;
    uint64_t peak_iteration_index; /* the event that began the iteration of the peak */
    struct lives *refused; /* copies for the last failure so far and for undecided refusals */
    size_t refused_count, refused_capacity;
};

/* A zeroed struct is an empty watch. */
struct lives_watch {
    struct places places;
    bool has_graphs; /* the trace has blocks that autograd keeps */
    struct account_lives *accounts;
    size_t account_count, account_capacity;
};

struct observer lives_watch_observer(struct lives_watch *watch);
void lives_watch_release(struct lives_watch *watch);

/*
 * Returns the lives of an account up to a failure. If `failure` is NULL, returns the lives of the
 * whole trace, with the iteration of the peak. Blocks that ended after the failure, while the
 * failure unwound the program, count like all other blocks. The refused request counts as born if
 * this account made it. Call this function once, after the replay. Returns NULL if there is no
 * memory.
 */
const struct lives *lives_at(struct lives_watch *watch, const struct history *history,
                             uint32_t account, const struct failure *failure, struct err *err);

/* Returns the life of the place's blocks. All fields are 0 if no block was born at the place. */
struct place_life lives_of(const struct lives *lives, uint32_t place);
/* True if the blocks of the place were born in several iterations, for their batches. */
bool life_recurs(const struct place_life *life);
/* True if the place holds many blocks and has freed none of them. */
bool life_piles_up(const struct place_life *life);
/* True if each block of the place was freed once the next one was born, and never before. */
bool life_replaces(const struct place_life *life);
/* True if the blocks of the place seldom outlive their phase. */
bool life_passes(const struct place_life *life);
