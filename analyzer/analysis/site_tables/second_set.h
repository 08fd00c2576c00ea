/* SPDX-License-Identifier: MIT */
/*
 * Two sets of parameters of like sizes that are live at a moment, of which only one is trained: a
 * model and its frozen teacher, reference or target network. A set is what one line of the program
 * made, itself or through all that it called.
 *
 *     main ─┬─ Encoder.__init__                   first: as many tensors of each size
 *           └─ make_teacher ── Encoder.__init__   second, which was made later
 *
 * One of the two is trained if gradients or optimizer states exist for only as many tensors of each
 * size. They are counted once a whole backward, or a whole step of the optimizer, has made them.
 * The sizes do not tell which of the two is the trained one.
 */
#pragma once

#include "analyzer/analysis/category.h"
#include "analyzer/blame/blame.h"

struct parameter_set {
    uint64_t bytes;
    const char *name; /* "train.py:88 main"; owned by the blame */
};

struct second_set {
    struct parameter_set first, second;
    bool by_states; /* optimizer states exist for only one set; else gradients do */
};

/* Finds the sets at event `index`, which must be a moment that the history keeps. blame: must
 * contain the stacks that are live then. Returns 1, or 0 if there are no such sets, or -1. */
int second_set_find(struct second_set *found, const struct categories *categories, uint32_t account,
                    uint64_t index, const struct blame *blame, struct err *err);
