/* SPDX-License-Identifier: MIT */
/*
 * Pairs equal lines of two runs, among the children of two nodes that are already a pair. Lines of
 * one function are paired in their order, so that their allocations agree best. All remaining lines
 * are paired by the function's name first, and by the functions that they called after that.
 *
 *     before   20 x ────────── 24 forward ─────────────── 31 step
 *     after    23 x   25 clone    27 forward   29 print     34 step
 */
#pragma once

#include "call_path_tree.h"

struct node_pair {
    uint32_t nodes[2]; /* before and after; FRAME_TREE_NONE: not in this run */
};

/*
 * Pairs the children of nodes[0] and nodes[1]. FRAME_TREE_NONE means that there are no children.
 * The caller frees *pairs. Returns the number of pairs, or -1.
 */
int node_pairs_find(struct node_pair **pairs, const struct call_path_tree *trees[2],
                    const uint32_t nodes[2], struct err *err);
