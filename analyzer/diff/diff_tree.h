/* SPDX-License-Identifier: MIT */
/*
 * The change between two moments, with one row for each line of the program that is to blame. The
 * rows add up to the change exactly. There is no row for lines that only moved: two leaves, or a
 * sequence of leaves of one kind, whose changes cancel each other.
 *
 * The line to blame is searched from the outermost line inwards:
 *
 *     one part grew        the part is to blame: the search goes on in it
 *     most parts grew      the line is to blame, because all parts have it in common (a bigger
 *                          batch, or checkpointing that is off)
 *     the line is new      the line is to blame
 *     the training loop    is not to blame if one part has nearly all growth
 *     an input below grew  the line is not to blame
 *
 * If the growth of an input explains most of the other growth, the input's row comes first.
 *
 *     main ─┬─ 20 x ········ +0.1     all parts of forward doubled, like x: x is to blame
 *           └─ 24 forward ─┬─ …  +8
 *                          └─ …  +4
 */
#pragma once

#include "holding.h"

#define DIFF_NONE UINT32_MAX

struct diff_node {
    /* the line in the later moment; if it is missing there, in the earlier one */
    struct call_line call_line;
    /* the parent; DIFF_NONE: this is the parent of the outermost lines */
    uint32_t outer;
    size_t depth; /* 1: an outermost line */
    size_t end;   /* first node that is not below this node */
    size_t first_leaf, leaf_end;
    bool is_old; /* the run before had the line, even if the line held nothing */
    /* Sums of the node and all nodes below it. growing_bytes: live after, in lines that grew. */
    uint64_t grown_bytes, shrunk_bytes, growing_bytes, before_bytes, after_bytes;
};

/* Memory that one line allocated by calling one function or operator. */
struct diff_leaf {
    uint32_t name, phase;
    enum category category;
    bool is_of_backward, is_moved; /* moved: the other side has the same bytes at another line */
    uint64_t bytes[2], counts[2], largest_bytes;
    size_t label_depth;     /* as in held_site, of its largest site */
    uint64_t each_bytes[2]; /* of all stacks of the leaf, as in held_site */
    struct held_life lives[2];
    bool is_freed_elsewhere; /* freed after another line than before; both lines are known */
};

struct diff_row {
    uint32_t node;     /* 0: no frame is the program's */
    const char *label; /* "gpt.py:24 Layer.attend", "MmBackward0 of gpt.py:24 Layer.attend" */
    const struct diff_leaf *leaf; /* the leaf of the row with the largest change */
    uint64_t bytes[2], counts[2];
    int64_t delta_bytes;
    /* If an input or parameters grew: the growth of other rows that this explains. Otherwise 0. */
    uint64_t explained_bytes;
    double explained_ratio; /* factor by which the input or the parameters grew */
};

struct diff_tree {
    struct text_set *names;
    struct diff_node *nodes; /* depth-first; the first is the parent of the outermost lines */
    size_t node_count, node_capacity;
    struct diff_leaf *leaves;
    size_t leaf_count, leaf_capacity;
    struct diff_row *rows; /* rows that grew, the largest first; after them, rows that shrank */
    size_t row_count, row_capacity;
    struct text_set labels;
    uint64_t bytes[2];
};

/*
 * Finds the change between two holdings. The holdings must share one set of names, which must
 * outlive the difference. On -1 nothing is to be released.
 */
int diff_tree_find(struct diff_tree *difference, const struct holding *before,
                   const struct holding *after, struct err *err);
void diff_tree_release(struct diff_tree *difference);

/* How a leaf grew, judged by all that its stacks allocated in both runs. */
enum diff_how {
    DIFF_HOW_UNKNOWN,
    DIFF_HOW_LONGER, /* as many blocks of the same size, but freed later or never */
    DIFF_HOW_LARGER, /* as many blocks, each larger */
    DIFF_HOW_MORE    /* more blocks of the same size */
};
enum diff_how diff_leaf_how(const struct diff_leaf *leaf);
#define DIFF_AFTER_BYTES (CALL_LINE_BYTES + 32)
/*
 * Returns the line that allocated last before the leaf's blocks were freed, as text: "the backward
 * of gpt.py:24 Layer.attend".
 */
const char *diff_leaf_freed_after(const struct diff_tree *difference, const struct diff_leaf *leaf,
                                  int side, char buffer[DIFF_AFTER_BYTES]);

/* Sums by category or phase of birth. The largest growth comes first. */
struct diff_sum {
    const char *name; /* NULL: outside any phase */
    uint64_t bytes[2], counts[2];
};
enum diff_by { DIFF_BY_SITE = 1, DIFF_BY_CATEGORY, DIFF_BY_PHASE, DIFF_BY_LAYER };
/* Computes the sums by category or phase. The caller frees *sums. Returns the number of sums, or
 * -1. */
int diff_tree_sums(struct diff_sum **sums, enum diff_by by, const struct holding *before,
                   const struct holding *after, struct err *err);
