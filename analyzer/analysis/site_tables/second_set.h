/* SPDX-License-Identifier: MIT */
/*
 * Sets of parameters of like sizes that are live at a moment, of which only one is trained: a model
 * and its frozen teacher, reference or target network, or its averages. A set is what one line of
 * the program made, itself or through all that it called.
 *
 *     main ─┬─ Encoder.__init__                   first: as many tensors of each size
 *           └─ make_teacher ── Encoder.__init__   second, which was made later
 *
 * One of them is trained if backward leaves gradients for only as many tensors of each size, at
 * any time of the run. The sizes do not tell which is the trained one; it may even be none of the
 * sets, if other parameters have as many tensors of these sizes. Nothing is said before the first
 * backward is whole, nor if several lines call backward: models that are trained in turn may never
 * have gradients at the same time.
 */
#pragma once

#include "analyzer/analysis/category.h"
#include "analyzer/blame/blame.h"

struct parameter_set {
    uint64_t bytes;
    const char *name; /* "train.py:88 main"; owned by the blame */
};

enum { SECOND_SETS_MOST = 4 };

/* The sets, in the order in which they were made. */
struct second_set {
    struct parameter_set sets[SECOND_SETS_MOST];
    size_t count;
    bool has_trained; /* no other parameters can have the gradients */
};

/* Finds the sets at event `index`, which must be a moment that the history keeps. blame: must
 * contain the stacks that are live then. Returns 1, or 0 if there are no such sets, or -1. */
int second_set_find(struct second_set *found, const struct categories *categories, uint32_t account,
                    uint64_t index, const struct blame *blame, struct err *err);
