/* SPDX-License-Identifier: MIT */
/*
 * What changed between two moments: rows, each the line of the program that is to blame, that add up
 * to the change exactly. Lines that only moved, pairs and rows of one kind that cancel, are no rows.
 *
 * The line to blame is found from the outermost inwards: a line of which one part grew hands the blame
 * on to that part; one of which most parts grew keeps it, because what they have in common stands
 * there: a bigger batch, checkpointing that is off. One that is new keeps it; the loop itself does not, if
 * one part has nearly all that grew or a larger input is below it. Where most of what grew did so as the
 * input did, the input comes first.
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
    struct call_line call_line; /* that of the later moment, where it has one */
    uint32_t outer;             /* DIFF_NONE: above the outermost lines */
    size_t end;                 /* the first node that is not below it */
    size_t first_leaf, leaf_end;
    bool is_old; /* the run before had the line, too, whatever it held then */
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
    uint64_t each_bytes[2]; /* as of a held_site, of all its stacks, live or not */
    struct held_life lives[2];
    bool is_freed_elsewhere; /* after another line than before; both are known */
};

struct diff_row {
    uint32_t node;     /* 0: nothing is the program's, and the leaf's name says what there is */
    const char *label; /* "gpt.py:24 Layer.attend", "MmBackward0 of gpt.py:24 Layer.attend" */
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
    struct text_set labels;
    uint64_t bytes[2];
};

/* before and after share their names, which outlive the difference. On -1 nothing is to be released. */
int diff_tree_find(struct diff_tree *difference, const struct holding *before,
                   const struct holding *after, struct err *err);
void diff_tree_release(struct diff_tree *difference);

/* How a leaf grew, by all that its stacks allocated in both runs. */
enum diff_how {
    DIFF_HOW_UNKNOWN,
    DIFF_HOW_LONGER, /* as many blocks of the same size, of which more are live at once: freed later, or never */
    DIFF_HOW_LARGER, /* as many blocks, each larger */
    DIFF_HOW_MORE    /* more blocks of the same size */
};
enum diff_how diff_leaf_how(const struct diff_leaf *leaf);
#define DIFF_AFTER_BYTES (CALL_LINE_BYTES + 32)
/* "the backward of gpt.py:24 Layer.attend": who allocated last before its blocks were freed. */
const char *diff_leaf_freed_after(const struct diff_tree *difference, const struct diff_leaf *leaf,
                                  int side, char buffer[DIFF_AFTER_BYTES]);

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
