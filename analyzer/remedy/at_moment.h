/* SPDX-License-Identifier: MIT */
/*
 * The live blocks of an account at the failure or the peak, in order of
 * birth, and the signs of remedies in them: the lines of forward that hold
 * most, and the sizes of logits and attention weights.
 */
#pragma once

#include "analyzer/symbol/symbols.h"
#include "without.h"

struct live_block {
    uint64_t begin_index, size_bytes;
    uint32_t place, stack_id;
    enum part part;
    bool is_of_graph; /* autograd keeps the block; copied from struct block */
    bool is_refused;  /* the request that failed */
    bool is_unused;   /* the program freed it and did no work before; known only at a peak */
};

struct at_moment {
    const struct history *history;
    struct places *places;
    struct symbols *symbols;
    const struct categories *categories;
    const struct lives *lives;
    uint64_t iteration_index; /* the event that began the current iteration */
    bool tells_graphs;        /* the trace shows which blocks autograd keeps */
    struct live_block *items; /* the oldest first; a refused request is last */
    size_t count, capacity;
    uint64_t live_bytes, bytes_by_part[PART_OPTIMIZER + 1];
};

/* Fills `at`. The request of `failure` counts as live; `failure` is NULL if nothing failed. */
int at_moment_find(struct at_moment *at, uint32_t account, uint64_t index,
                   const struct failure *failure, struct err *err);
void at_moment_release(struct at_moment *at);

/* Bytes of the blocks with a sign, and the largest of these blocks. */
struct signed_bytes {
    uint64_t bytes, largest_bytes;
    uint64_t unused_bytes; /* those with is_unused */
    uint32_t stack_id;     /* of the largest block */
};
int at_moment_signed(const struct at_moment *at, enum torch_meaning sign,
                     struct signed_bytes *found, struct err *err);
/* Sets *bytes to the bytes of the blocks with the sign that have a twin: a block of PART_INIT of
 * the same size without the sign. Each block is the twin of at most one other. */
int at_moment_twins(const struct at_moment *at, enum torch_meaning sign, uint64_t *bytes,
                    struct err *err);

/*
 * Finds the lines of the program that hold most bytes of forward through calls that they make at
 * least twice. Adds as many lines to `without` as it has room for, and fills the fields of struct
 * calls that its caller must set. counts[i] is the number of calls of line i that still hold
 * something.
 */
int at_moment_lines(const struct at_moment *at, struct without *without,
                    uint64_t counts[WITHOUT_LINES_MAX], struct err *err);

/*
 * Sets *sums to true if forward ran again on new data after it had computed a loss, with no
 * backward between the two. The program then sums losses, and its memory grows with the number of
 * losses. A recurrent network computes many losses of one batch, and grows with the batch.
 *
 *     data a b b c  loss  data a b b c  loss  data a b     most bytes after a loss are of places
 *                                                          before it
 */
int at_moment_sums_losses(const struct at_moment *at, bool *sums, struct err *err);

/* True if autograd keeps most of the bytes that forward allocated under the line (if the line is 0:
 * anywhere). Also true if the trace does not show this. */
bool at_moment_keeps_graph(const struct at_moment *at, uint32_t location);

/* Returns the outermost of the program's own lines that the line calls, or 0 if there is none. */
uint32_t at_moment_callee(const struct at_moment *at, uint32_t location);
