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
    struct frame_node *grown =
        array_grow(tree->nodes, &tree->capacity, tree->count, sizeof *grown, err);
    if (!grown)
        return FRAME_TREE_NONE;
    tree->nodes = grown;
    number = (uint32_t)tree->count;
    if (pair_map_put(&tree->numbers, outer, frame, number, err))
        return FRAME_TREE_NONE;
    grown[number] = (struct frame_node){.outer = outer, .frame = frame};
    tree->count++;
    if (outer != FRAME_TREE_NONE) {
        struct frame_node *above = &grown[outer];
        *(above->last ? &grown[above->last].next : &above->first) = number;
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
