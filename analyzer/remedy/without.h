/* SPDX-License-Identifier: MIT */
/*
 * Tells how high the peak would have been without some bytes. It watches a second replay, because
 * these bytes depend on the blocks that were live at the failure or the peak, and on how long the
 * blocks of each place live (lives.h). It keeps a few numbers for each live block.
 */
#pragma once

#include "analyzer/torch/frames.h"
#include "calls.h"
#include "caught.h"
#include "lives.h"
#include "stale.h"

enum { WITHOUT_LINES_MAX = 12, WITHOUT_SIZES_MAX = 4 };

enum without_rule {
    WITHOUT_LINEAR,  /* bytes that grow with the batch */
    WITHOUT_SIZES,   /* blocks of forward and backward with these sizes */
    WITHOUT_SIGN,    /* blocks of places with the sign */
    WITHOUT_PASSING, /* such blocks, if those of their place seldom outlive their phase */
    WITHOUT_STATES,  /* optimizer states */
    /* batches of places that free no block, except the largest batch; those that each iteration
     * makes are held over */
    WITHOUT_PILES,
    WITHOUT_HELD,   /* blocks of forward and data held over from earlier iterations */
    WITHOUT_STALE,  /* gradients of the previous iteration */
    WITHOUT_CALLS,  /* what the calls of a line keep for backward */
    WITHOUT_CAUGHT, /* bytes that caught calls still hold; most_bytes is the answer */
};

struct without_question {
    enum without_rule rule;
    uint32_t part_of, whole; /* the share of the bytes that is gone: 1 and 2 mean one half */
    enum torch_meaning sign;
    bool is_of_sign;                   /* WITHOUT_SIZES: only blocks of places with the sign */
    uint64_t sizes[WITHOUT_SIZES_MAX]; /* 0 ends the list */
    size_t line;                       /* index into without.lines */
    uint32_t sign_stack;               /* a stack with the sign; 0: use most_stack */

    uint64_t bytes;      /* live bytes that the question concerns now; unused for STALE and CALLS */
    uint64_t high_bytes; /* the answer: the highest live bytes without the bytes of the question */
    uint64_t most_bytes; /* bytes that the question concerned at the moment */
    uint32_t iterations; /* of the blocks at the moment: bit i stands for i modulo 32 */
    bool is_of_graph;    /* autograd keeps one of the question's blocks */
    uint64_t most_site_id; /* of the largest such block at the moment */
};

/* Returns the question's share of the bytes. */
static inline uint64_t without_share(const struct without_question *question, uint64_t bytes)
{
    return bytes / question->whole * question->part_of +
           bytes % question->whole * question->part_of / question->whole;
}

struct without {
    /* The caller sets these fields. */
    struct places *places;
    const struct lives *lives;
    const struct categories *categories;
    uint32_t account;
    uint64_t moment;               /* an event; most_bytes is computed at this event */
    const struct failure *failure; /* the failure at `moment`, where counting stops; or NULL */
    bool needs_optimizer;          /* an iteration ends only if an optimizer allocated in it */
    const struct caught *caught;
    struct without_question *items;
    size_t count; /* at most 32, because held_block.summed has 32 bits */
    struct calls lines[WITHOUT_LINES_MAX];
    size_t line_count;

    /* The state of the replay. */
    uint8_t *traits; /* by place: bits of enum place_trait */
    size_t trait_count;
    uint64_t *batch_bytes; /* by place: size of the largest block, if its blocks pile up */
    struct iterations iterations;
    uint32_t stale_iteration; /* gradients of iterations before this one are stale */
    uint64_t new_bytes;       /* WITHOUT_HELD: bytes of the current iteration; not held over yet */
    struct stale stale;
    struct pair_map weights; /* (0, size): number of live blocks of the model with this size */
    /* WITHOUT_CAUGHT: the event at which the current or last call began */
    uint64_t call_begin_index;
    uint32_t call_iteration;
    size_t caught_count;       /* number of failures of caught calls so far */
    struct held_block *blocks; /* by number of the block + 1; the first is the failed allocation */
    size_t block_count, block_capacity;
    uint32_t *calls; /* for each block and line: the call that holds the block */
    size_t call_capacity;
};

/* Begins the replay. Call it once all fields above are set. Returns -1 if there is no memory. */
int without_begin(struct without *without, struct err *err);
struct observer without_observer(struct without *without);
void without_release(struct without *without);
