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

/*
 * Finds the partners of all children of nodes[0] and nodes[1], and of the lines that are inlined
 * into these. FRAME_TREE_NONE means that there are no children.
 *
 * partners are by node of each side, before and after: the node's partner on the other side, or
 * FRAME_TREE_NONE if it has none; 0: not yet known.
 */
int partners_find(uint32_t *const partners[2], const struct call_path_tree *trees[2],
                  const uint32_t nodes[2], struct err *err);
