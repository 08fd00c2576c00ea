/* SPDX-License-Identifier: MIT */
/* Merges two trees of call paths into one, with both sizes of each leaf. */
#pragma once

#include "diff_tree.h"
#include "call_path_tree.h"

/* Fills the nodes and leaves of the difference. */
int diff_tree_merge(struct diff_tree *difference, const struct call_path_tree *trees[2],
                    struct err *err);

/* Returns the growth of a leaf, or 0 if the leaf only moved. */
static inline int64_t diff_leaf_delta(const struct diff_leaf *leaf)
{
    return leaf->is_moved ? 0 : (int64_t)(leaf->bytes[1] - leaf->bytes[0]);
}
