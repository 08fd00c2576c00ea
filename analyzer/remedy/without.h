/* SPDX-License-Identifier: MIT */
/*
 * What if some bytes had not been there: the highest moment of a trace without them. A second
 * replay, as which bytes they are follows from what was live at the failure or at the peak, and how
 * long the blocks of each place live (lives.h). Keeps a few numbers for each live block. It must
 * not know why somebody asks.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_WITHOUT_H
#define GPUMEMTRACE_ANALYZER_REMEDY_WITHOUT_H

#include "calls.h"
#include "caught.h"
#include "lives.h"
#include "stale.h"

enum { WITHOUT_LINES_MAX = 12, WITHOUT_SIZES_MAX = 4 };

enum without_rule {
    WITHOUT_LINEAR, /* what grows with the batch */
    WITHOUT_SIZES,  /* of forward and backward, blocks of these sizes */
    WITHOUT_SIGN,   /* blocks of places with the sign */
    WITHOUT_STATES, /* what an optimizer keeps */
    WITHOUT_PILES,  /* batches of places that let go of none, but for the one that is in use */
    WITHOUT_HELD,   /* what forward and data of iterations before still hold */
    WITHOUT_STALE,  /* gradients of the iteration before */
    WITHOUT_CALLS,  /* what the calls of a line keep for backward */
    WITHOUT_CAUGHT, /* what calls that failed before still hold: most_bytes is the answer */
};

/* One question. */
struct without_question {
    enum without_rule rule;
    uint32_t part_of, whole; /* which share of these bytes is gone: 1 of 2 */
    enum sign sign;
    uint64_t sizes[WITHOUT_SIZES_MAX]; /* 0: no more */
    size_t line;                       /* of without.lines */
    uint32_t sign_stack;               /* the stack that has the sign; 0: most_stack will do */

    uint64_t bytes;      /* live now, of those that it concerns; of STALE and CALLS nobody asks */
    uint64_t high_bytes; /* the answer: the most that was live without them */
    uint64_t most_bytes; /* the most that it concerned at the moment that is asked about */
    bool is_of_graph;    /* one of these is an operator's that a backward is to go through */
    uint32_t most_stack, most_forward_stack; /* the stacks of the largest such block then */
};

struct without {
    /* The caller's to set. */
    struct places *places;
    const struct lives *lives;
    const struct categories *categories;
    uint32_t account;
    uint64_t moment;               /* an event: most_bytes are as of it */
    const struct failure *failure; /* at that moment, after which nothing counts; or NULL */
    bool needs_optimizer;          /* an iteration is over only if an optimizer allocated in it */
    const struct caught *caught;
    struct without_question *items;
    size_t count; /* at most 32 */
    struct calls lines[WITHOUT_LINES_MAX];
    size_t line_count;

    /* While it watches. */
    uint8_t *traits; /* by place: how its blocks live, by bits of enum place_trait */
    size_t trait_count;
    uint64_t *batch_bytes; /* by place: of the largest of its blocks, if they pile up */
    struct iterations iterations;
    uint32_t stale_iteration; /* gradients of iterations before are stale */
    uint64_t new_bytes;       /* WITHOUT_HELD: of the current iteration, not yet held over */
    struct stale stale;
    uint64_t call_begin_index; /* WITHOUT_CAUGHT: of the call that runs, or ran last */
    uint32_t call_iteration;
    size_t caught_count;       /* of those that failed by now */
    struct held_block *blocks; /* by number of the block; the first one is a failed allocation */
    size_t block_count, block_capacity;
    uint32_t *calls; /* for each of them, by line */
    size_t call_capacity;
};

/* Once all is set. -1: out of memory. */
int without_begin(struct without *without, struct err *err);
struct observer without_observer(struct without *without);
void without_release(struct without *without);

#endif
