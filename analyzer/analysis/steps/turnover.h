/* SPDX-License-Identifier: MIT */
/*
 * Tells a cache that is full from a leak, for one call stack. Until a cache is full, no block of an
 * earlier step is freed. From then on, old blocks are freed for new ones, and the bytes or the
 * number of blocks stay level.
 *
 *     blocks   1 2 3 4 5 6 7 8 8 8 8 8      full: from the ninth step on, each new block takes the
 *     freed    . . . . . . . . 1 1 1 1      place of one that was made before
 *     blocks   1 2 3 4 5 6 7 8 8 8 8 8      level, but not full: nothing is replaced, so the leak
 *     freed    . . . . . . . . . . . .      may go on
 *     blocks   1 2 2 3 3 4 4 5 5 6 6 7      not level: a part of the blocks is kept
 *     freed    . . 1 . 1 . 1 . 1 . 1 .
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct turnover_level {
    uint64_t bytes, count;
};

/* Blocks of earlier steps; those of them that were made before turnover.since_index. */
struct turnover_freed {
    uint64_t count, bytes, early_count;
};

/* A zeroed struct has seen nothing. */
struct turnover {
    struct turnover_level level;       /* live before the first such free; 0: none came yet */
    uint64_t since_index;              /* event of that free */
    uint64_t risen_at;                 /* end of the last rise before it */
    struct turnover_level most, least; /* at the ends since then */
    struct turnover_level rise;        /* the largest from end to end */
    struct turnover_freed freed, open; /* in the steps that ended; in the open step */
    uint64_t steps_count;              /* steps that freed such blocks and made others */
    bool has_born;                     /* in the open step */
};

static inline void turnover_birth(struct turnover *turnover)
{
    turnover->has_born = true;
}

/* A block of an earlier step is freed at the event `index`. */
struct turnover_free {
    uint64_t index, begin_index, size_bytes;
    struct turnover_level live; /* with the block */
};
void turnover_free(struct turnover *turnover, const struct turnover_free *freed);

/* A step ended with `now` live, the one before with `last`. */
void turnover_end(struct turnover *turnover, uint64_t at, const struct turnover_level *now,
                  const struct turnover_level *last);

bool turnover_is_full(const struct turnover *turnover);
