/* SPDX-License-Identifier: MIT */
/*
 * How long the blocks of each place live: what tells a gradient from a temporary of backward, and
 * what a loop allocates anew in each round. It watches a replay, for one stock, and keeps a few
 * numbers for each place. It must not know remedies.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_LIVES_H
#define GPUMEMTRACE_ANALYZER_REMEDY_LIVES_H

#include "analyzer/replay/history/observer.h"
#include "places.h"
#include "rounds.h"

struct place_life {
    uint64_t kept_bytes, passed_bytes; /* of blocks that outlived their phase, and of others */
    uint64_t live_count, high_count;   /* now, and the most at once */
    uint64_t fall_count;               /* the furthest that it fell below its highest before */
    uint32_t births_count;
    uint32_t first_round, last_round; /* in which blocks were born; first is valid if any was */
};

struct lives {
    struct places *places;
    uint32_t stock;
    uint64_t moment;               /* an event: which round it is in */
    const struct failure *failure; /* at that moment: nothing after it counts as born; or NULL */
    struct rounds rounds;
    uint64_t round_index; /* the event that began the round of the moment; 0: the first one */
    uint64_t bytes_by_part[PART_OPTIMIZER + 1]; /* born */
    uint32_t optimized_rounds_count;
    struct place_life *items; /* by place */
    size_t count, capacity;
};

struct observer lives_observer(struct lives *lives);
void lives_release(struct lives *lives);

/* A place that no block was born at has an empty life. */
struct place_life lives_of(const struct lives *lives, uint32_t place);
/* Born in several rounds. */
bool life_recurs(const struct place_life *life);
/* Its blocks do not outlive their phase. */
bool life_passes(const struct place_life *life);

#endif
