/* SPDX-License-Identifier: MIT */
/*
 * What changed between two moments: rows, each the line of the program that is to blame, that add up
 * to the change exactly. Lines that only moved, and pairs that cancel, are no rows.
 *
 * The line to blame is found from the outermost inwards: a line of which one part grew hands the blame
 * on to that part; one of which most parts grew keeps it, because what they have in common stands
 * there: a bigger batch, checkpointing that is off. Where most of what grew did so as the input did, the
 * input comes first.
 *
 *     main ─┬─ 20 x ········ +0.1     forward's parts all doubled, as x did: x is to blame
 *           └─ 24 forward ─┬─ …  +8
 *                          └─ …  +4
 *
 * It must not know how rows are shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_DIFF_TREE_H
#define GPUMEMTRACE_ANALYZER_DIFF_DIFF_TREE_H

#include "holding.h"

#define DIFF_NONE UINT32_MAX

struct diff_node {
    struct held_step step; /* that of the later moment, where it has one */
    uint32_t outer;        /* DIFF_NONE: above the outermost lines */
    size_t end;            /* the first node that is not below it */
    size_t first_leaf, leaf_end;
    /* Of it and all below: what grew, what shrank, what is live where something grew and everywhere. */
    uint64_t grown_bytes, shrunk_bytes, growing_bytes, before_bytes, after_bytes;
};

/* What one line allocated by calling one thing. */
struct diff_leaf {
    uint32_t name, phase;
    enum category category;
    bool is_of_backward,
        is_moved; /* moved: it stands elsewhere on the other side, with its bytes */
    uint64_t bytes[2], counts[2], largest_bytes;
};

struct diff_row {
    uint32_t node;   /* 0: nothing is the program's, and the leaf's name says what there is */
    const char *who; /* "gpt.py:24 Layer.attend", "MmBackward0 of gpt.py:24 Layer.attend" */
    const struct diff_leaf *leaf; /* that changed most */
    uint64_t bytes[2], counts[2];
    int64_t delta_bytes;
    /* The input, or the parameters, whose growth explains that of so many bytes in other rows; 0: neither. */
    uint64_t explained_bytes;
    double explained_ratio; /* how many times as large it is */
};

struct diff_tree {
    struct text_set *names;
    struct diff_node *nodes; /* each followed by those below it; the first is above the outermost */
    size_t node_count, node_capacity;
    struct diff_leaf *leaves;
    size_t leaf_count, leaf_capacity;
    struct diff_row *rows; /* what grew, the most first; then what shrank */
    size_t row_count, row_capacity;
    struct text_set whos;
    uint64_t bytes[2];
};

/* before and after share their names, which outlive the difference. On -1 nothing is to be released. */
int diff_tree_find(struct diff_tree *difference, const struct holding *before,
                   const struct holding *after, struct err *err);
void diff_tree_release(struct diff_tree *difference);

/* Sums by category, phase of birth …: the largest growth first. */
struct diff_sum {
    const char *name; /* NULL: outside any phase */
    uint64_t bytes[2], counts[2];
};
enum diff_by { DIFF_BY_SITE = 1, DIFF_BY_CATEGORY, DIFF_BY_PHASE, DIFF_BY_LAYER };
/* By category or phase. *sums is the caller's to free; -1 or how many. */
int diff_tree_sums(struct diff_sum **sums, enum diff_by by, const struct holding *before,
                   const struct holding *after, struct err *err);

#endif
