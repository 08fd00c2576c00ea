/* SPDX-License-Identifier: MIT */
/*
 * Finds the moments at which most blocks of one call stack are freed, although they were made in
 * several steps. A moment lasts from one birth in the account to the next.
 *
 *     births  a b   a b   a b       a b   a b   a b          b: another call stack
 *     frees     b     b     b aaa     b     b     b aaa      two sweeps of a's blocks, of 3 ages
 *     ends        |     |     |  |      |     |     |  |
 *
 * The memory of a call stack that is swept rises from step to step and falls at once: a saw. A
 * buffer that is written out when it is full is swept at one place of the program, after the same
 * call stack has allocated. Python's collector, which frees tensors in reference cycles, sweeps
 * wherever it happens to run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "occurrences.h"

/* A zeroed struct has none. */
struct sweeps {
    struct occurrences at; /* the ends of the steps with a sweep */
    uint64_t most_bytes;   /* of the largest sweep */
    uint32_t place;        /* the call stack that allocated before most sweeps, if one did */
    uint32_t place_votes;
    /* The current moment: */
    uint64_t moment;              /* number of births before it */
    uint64_t before_bytes, bytes; /* live before it, freed in it */
    uint64_t ages;        /* a bit for each step, modulo 64, in which such a block was made */
    uint64_t swept_bytes; /* of a sweep since the last end; 0: none */
    uint32_t swept_place;
};

/* A block is freed. */
struct swept {
    uint64_t moment, live_bytes, size_bytes; /* the call stack's live bytes, with the block */
    uint64_t step;                           /* in which the block was made */
    uint32_t place;                          /* the call stack that allocated last */
};
void sweeps_free(struct sweeps *sweeps, const struct swept *freed);

/* A step ended, and the call stack holds less than at the end before (fell), or not. */
void sweeps_end(struct sweeps *sweeps, uint64_t end, bool fell);

/* The ends between two sweeps if they come at a regular pace from the first step on; else 0.
 * `steps_before` is the number of steps before end 0. */
uint64_t sweeps_pace(const struct sweeps *sweeps, uint64_t steps_before, uint64_t ends_count);
/* True if the last sweep is so long ago that no more may come. */
bool sweeps_are_over(const struct sweeps *sweeps, uint64_t ends_count);
/* True if several sweeps came at different places of the program. */
bool sweeps_are_anywhere(const struct sweeps *sweeps);
