/* SPDX-License-Identifier: MIT */
/*
 * Call stacks as one tree, from the outermost frame inwards. The tree has a frame that several
 * stacks share only once. It knows frames by numbers that its user gives them, and its user keeps
 * what belongs to a node in arrays by number of the node.
 *
 *     main ── train ── forward ── aten::linear      stacks 0 and 1 end at different nodes
 *                 └─── backward
 */
#pragma once

#include "analyzer/util/pair_map.h"

#define FRAME_TREE_NONE PAIR_MAP_NONE

struct frame_node {
    uint32_t outer;             /* has a lower number; FRAME_TREE_NONE: the node has no caller */
    uint32_t first, last, next; /* its children as a list, in the order of adding; 0: none */
    uint64_t frame;
};

/* A zeroed tree is empty. */
struct frame_tree {
    struct frame_node *nodes;
    size_t count, capacity;
    struct pair_map numbers; /* by outer node and frame */
};

/* Returns the number of the node that `outer` has for the frame, and adds the node if it is new;
 * outer may be FRAME_TREE_NONE. Returns FRAME_TREE_NONE if there is no memory. */
uint32_t frame_tree_add(struct frame_tree *tree, uint32_t outer, uint64_t frame, struct err *err);
/* Returns the number of that node, or FRAME_TREE_NONE if the tree has no such node. */
static inline uint32_t frame_tree_find(const struct frame_tree *tree, uint32_t outer,
                                       uint64_t frame)
{
    return pair_map_get(&tree->numbers, outer, frame);
}
void frame_tree_release(struct frame_tree *tree);
