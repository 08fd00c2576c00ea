/* SPDX-License-Identifier: MIT */
/*
 * What was live in an account at the failure or the peak, in order of birth, and what of it is a sign
 * of a remedy: the lines of forward that hold most, the sizes of logits and of attention's weights.
 * It must not know what would have been without them.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_AT_MOMENT_H
#define GPUMEMTRACE_ANALYZER_REMEDY_AT_MOMENT_H

#include "analyzer/symbol/symbols.h"
#include "without.h"

struct live_block {
    uint64_t begin_index, size_bytes;
    uint32_t place, stack_id;
    enum part part;
    bool is_of_graph; /* as a block's */
};

struct at_moment {
    const struct history *history;
    struct places *places;
    struct symbols *symbols;
    const struct categories *categories;
    uint64_t iteration_index; /* where the current iteration began */
    bool tells_graphs;        /* the trace says which blocks are of a graph of autograd */
    struct live_block *items; /* the oldest first; what was refused is the last one */
    size_t count, capacity;
    uint64_t live_bytes, bytes_by_part[PART_OPTIMIZER + 1];
};

/* failure: what was refused counts as live; NULL: nothing was. */
int at_moment_find(struct at_moment *at, uint32_t account, uint64_t index,
                   const struct failure *failure, struct err *err);
void at_moment_release(struct at_moment *at);

/* Bytes of the blocks with a sign, and the size of the largest of those that were born in forward or
 * backward. */
struct signed_bytes {
    uint64_t bytes, largest_bytes;
    uint32_t stack_id; /* of the largest */
};
int at_moment_signed(const struct at_moment *at, enum sign sign, struct signed_bytes *found,
                     struct err *err);

/*
 * The lines of the program that hold most of forward's bytes, by calls that they make at least
 * twice: as many as without has room for, with all that struct calls needs. counts[i]: how many
 * calls of line i hold something.
 */
int at_moment_lines(const struct at_moment *at, struct without *without,
                    uint64_t counts[WITHOUT_LINES_MAX], struct err *err);

/*
 * Whether forward ran again after it gave a loss, and no backward did: what it keeps grows with the
 * number of losses that are summed.
 *
 *     a b b c  loss  a b b c  loss  a b       most of what follows a loss is of places before it
 */
int at_moment_sums_losses(const struct at_moment *at, bool *sums, struct err *err);

/* Whether autograd keeps most of what forward made under the line, 0: anywhere; true where the trace does
 * not tell. */
bool at_moment_keeps_graph(const struct at_moment *at, uint32_t location);

/* The program's own code that the line calls, innermost but one line: 0: none. */
uint32_t at_moment_callee(const struct at_moment *at, uint32_t location);

#endif
