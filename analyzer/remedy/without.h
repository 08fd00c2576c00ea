/* SPDX-License-Identifier: MIT */
/*
 * Answers what the peak would have been without some bytes. It watches a second replay, because
 * these bytes follow from the blocks that were live at the failure or the peak, and from how long
 * the blocks of each place live (lives.h). It keeps a few numbers for each live block.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_WITHOUT_H
#define GPUMEMTRACE_ANALYZER_REMEDY_WITHOUT_H

#include "calls.h"
#include "caught.h"
#include "lives.h"
#include "stale.h"

enum { WITHOUT_LINES_MAX = 12, WITHOUT_SIZES_MAX = 4 };

enum without_rule {
    WITHOUT_LINEAR, /* bytes that grow with the batch */
    WITHOUT_SIZES,  /* blocks of forward and backward with these sizes */
    WITHOUT_SIGN,   /* blocks of places with the sign */
    WITHOUT_STATES, /* optimizer states */
    WITHOUT_PILES,  /* batches of places that free none, except the largest */
    WITHOUT_HELD,   /* blocks of forward and data held over from earlier iterations */
    WITHOUT_STALE,  /* gradients of the previous iteration */
    WITHOUT_CALLS,  /* what the calls of a line keep for backward */
    WITHOUT_CAUGHT, /* what caught calls still hold; most_bytes is the answer */
};

struct without_question {
    enum without_rule rule;
    uint32_t part_of, whole; /* the share of the bytes that is gone: 1 of 2 */
    enum sign sign;
    uint64_t sizes[WITHOUT_SIZES_MAX]; /* 0 ends the list */
    size_t line;                       /* index into without.lines */
    uint32_t sign_stack;               /* a stack with the sign; 0: use most_stack */

    uint64_t bytes;      /* live bytes that it concerns now; unused for STALE and CALLS */
    uint64_t high_bytes; /* the answer: the highest live bytes without them */
    uint64_t most_bytes; /* bytes that it concerned at the moment */
    bool is_of_graph;    /* autograd keeps one of these blocks */
    uint32_t most_stack, most_forward_stack; /* stacks of the largest such block then */
};

struct without {
    /* Set by the caller. */
    struct places *places;
    const struct lives *lives;
    const struct categories *categories;
    uint32_t account;
    uint64_t moment;               /* an event; most_bytes are as of it */
    const struct failure *failure; /* failure at `moment`, where counting stops; or NULL */
    bool needs_optimizer;          /* an iteration ends only if an optimizer allocated in it */
    const struct caught *caught;
    struct without_question *items;
    size_t count; /* at most 32, because held_block.summed has 32 bits */
    struct calls lines[WITHOUT_LINES_MAX];
    size_t line_count;

    /* State of the replay. */
    uint8_t *traits; /* by place: bits of enum place_trait */
    size_t trait_count;
    uint64_t *batch_bytes; /* by place: size of its largest block, if they pile up */
    struct iterations iterations;
    uint32_t stale_iteration; /* gradients of iterations before this one are stale */
    uint64_t new_bytes;       /* WITHOUT_HELD: bytes of the current iteration, not yet held over */
    struct stale stale;
    uint64_t call_begin_index; /* WITHOUT_CAUGHT: where the current or last call began */
    uint32_t call_iteration;
    size_t caught_count;       /* failures of caught calls so far */
    struct held_block *blocks; /* by number of the block + 1; first: the failed allocation */
    size_t block_count, block_capacity;
    uint32_t *calls; /* the call of each block, by line */
    size_t call_capacity;
};

/* To be called once all fields above are set. -1: out of memory. */
int without_begin(struct without *without, struct err *err);
struct observer without_observer(struct without *without);
void without_release(struct without *without);

#endif
