/* SPDX-License-Identifier: MIT */
/*
 * Call stacks as one tree, from the outermost frame inwards. The tree has a frame that several
 * stacks share only once.
 *
 *     main ── train ── forward ── aten::linear      stacks 0 and 1 end at different nodes
 *                 └─── backward
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_SERIES_STACK_TREE_H
#define GPUMEMTRACE_ANALYZER_PAGE_SERIES_STACK_TREE_H

#include "analyzer/blame/blame.h"
#include "analyzer/render/doc.h"
#include "analyzer/util/pair_map.h"
#include "analyzer/util/text_set.h"

struct stack_node {
    uint32_t parent; /* STACK_TREE_NONE: the node has no parent */
    uint32_t frame;  /* index in the list of frames */
};
#define STACK_TREE_NONE UINT32_MAX

struct tree_stack {
    struct blame_stack stack;
    uint32_t node; /* the stack's innermost frame; STACK_TREE_NONE: the stack is empty */
};

/* A zeroed tree is empty. */
struct stack_tree {
    struct symbol_frame *frames;
    size_t frame_count, frame_capacity;
    struct stack_node *nodes;
    size_t node_count, node_capacity;
    struct tree_stack *stacks;
    size_t stack_count, stack_capacity;
    struct text_set frame_texts;  /* frames with equal text are one frame */
    struct pair_map node_numbers; /* by parent and frame */
    /* numbers of stacks, by the stack of the forward operator and by the stack itself */
    struct pair_map numbers;
};

/* Returns the stack's number in the tree, and adds the stack if it is new. Returns UINT32_MAX if
 * there is no memory. */
uint32_t stack_tree_add(struct stack_tree *tree, struct symbols *symbols, struct blame_stack stack,
                        struct err *err);
/* Adds "frames", "nodes" and "stacks" to the open object. */
int stack_tree_describe(struct doc *doc, const struct stack_tree *tree, struct symbols *symbols,
                        struct err *err);
void stack_tree_release(struct stack_tree *tree);

#endif
