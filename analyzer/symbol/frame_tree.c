/* SPDX-License-Identifier: MIT */
/* Call stacks as one tree; see frame_tree.h. */
#include "frame_tree.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

uint32_t frame_tree_add(struct frame_tree *tree, uint32_t outer, uint64_t frame, struct err *err)
{
    uint32_t number = frame_tree_find(tree, outer, frame);
    if (number != FRAME_TREE_NONE)
        return number;
    if (ARRAY_GROW(tree->nodes, tree->capacity, tree->count, err))
        return FRAME_TREE_NONE;
    number = (uint32_t)tree->count;
    if (pair_map_put(&tree->numbers, outer, frame, number, err))
        return FRAME_TREE_NONE;
    tree->nodes[number] = (struct frame_node){.outer = outer, .frame = frame};
    tree->count++;
    if (outer != FRAME_TREE_NONE) {
        struct frame_node *above = &tree->nodes[outer];
        *(above->last ? &tree->nodes[above->last].next : &above->first) = number;
        above->last = number;
    }
    return number;
}

void frame_tree_release(struct frame_tree *tree)
{
    free(tree->nodes);
    pair_map_release(&tree->numbers);
    *tree = (struct frame_tree){0};
}
