/* SPDX-License-Identifier: MIT */
/*
 * How long the blocks of each place live: what tells a gradient from a temporary of backward, and
 * what a loop allocates anew in each iteration. It watches the first replay of a trace, for each layer,
 * and keeps a few numbers for each place; and, as the last failure is known only later, a copy of
 * them for each refusal that may be it. It must not know remedies.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_LIVES_H
#define GPUMEMTRACE_ANALYZER_REMEDY_LIVES_H

#include "analyzer/replay/history/observer.h"
#include "places.h"
#include "iterations.h"

struct place_life {
    uint64_t kept_bytes, passed_bytes; /* of blocks that outlived their phase, and of others */
    uint64_t live_count, high_count;   /* now, and the most at once */
    uint64_t fall_count;               /* the furthest that it fell below its highest before */
    uint32_t births_count;
    /* In which blocks were born; first is valid if any was. */
    uint32_t first_iteration, last_iteration;
};

/* Of one account, as of one event. */
struct lives {
    uint64_t index;      /* of a copy: the refusal */
    uint64_t peak_bytes; /* of a copy: the most that was live by then */
    struct iterations iterations;
    uint64_t iteration_index; /* event that began the current iteration; 0: it is the first one */
    uint64_t bytes_by_part[PART_OPTIMIZER + 1]; /* born */
    uint32_t optimized_iterations_count;
    struct place_life *items; /* by place */
    size_t count, capacity;
};

struct account_lives {
    struct lives now;
    uint64_t peak_iteration_index; /* where the iteration of the peak began */
    struct lives *refused; /* the last failure so far, and what may yet turn out to be one */
    size_t refused_count, refused_capacity;
};

/* Zeroed is empty. */
struct lives_watch {
    struct places places;
    bool has_graphs; /* of autograd: a block is of one */
    struct account_lives *accounts;
    size_t account_count, account_capacity;
};

struct observer lives_watch_observer(struct lives_watch *watch);
void lives_watch_release(struct lives_watch *watch);

/*
 * What was known of an account at a failure, or of all of the trace with the iteration of the peak. How
 * blocks ended while a failure unwound the program counts too, as much as any other end; and what
 * was refused to that account counts as born. NULL: out of memory. To be asked once, after the replay.
 */
const struct lives *lives_at(struct lives_watch *watch, const struct history *history,
                             uint32_t account, const struct failure *failure, struct err *err);

/* A place that no block was born at has an empty life. */
struct place_life lives_of(const struct lives *lives, uint32_t place);
/* Born in several iterations. */
bool life_recurs(const struct place_life *life);
/* It holds many blocks, and has let go of none. */
bool life_piles_up(const struct place_life *life);
/* Its blocks do not outlive their phase. */
bool life_passes(const struct place_life *life);

#endif
