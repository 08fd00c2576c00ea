/* SPDX-License-Identifier: MIT */
/*
 * Which lines of two runs are the same, among those that two equal lines called. Those of one function
 * are paired in their order, so that what they allocate agrees best; of what is left, those of a function of
 * one name, then those that called the same. It must not know what is done with them.
 *
 *     before   20 x ────────── 24 forward ─────────────── 31 step
 *     after    23 x   25 clone    27 forward   29 print     34 step
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_PAIRS_H
#define GPUMEMTRACE_ANALYZER_DIFF_PAIRS_H

#include "call_path_tree.h"

struct node_pair {
    uint32_t nodes[2]; /* before, after; PATH_NODE_NONE: that run has no such line */
};

/* The children of one node of each tree, PATH_NODE_NONE: none. *pairs is the caller's to free; -1 or how many. */
int node_pairs_find(struct node_pair **pairs, const struct call_path_tree *trees[2],
                    const uint32_t nodes[2], struct err *err);

#endif
