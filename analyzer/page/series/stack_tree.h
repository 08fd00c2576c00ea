/* SPDX-License-Identifier: MIT */
/* The call stacks of a series as one tree, which a page describes. */
#pragma once

#include "analyzer/blame/blame.h"
#include "analyzer/render/doc.h"
#include "analyzer/util/text_set.h"

struct tree_stack {
    uint64_t site_id;
    uint32_t node; /* the stack's innermost frame; FRAME_TREE_NONE: the stack is empty */
};

/* A zeroed tree is empty. */
struct stack_tree {
    struct symbol_frame *frames;
    size_t frame_count, frame_capacity;
    struct frame_tree tree; /* its frames are indices in the list of frames */
    struct tree_stack *stacks;
    size_t stack_count, stack_capacity;
    struct text_set frame_texts; /* frames with equal text are one frame */
    struct pair_map numbers;     /* of stacks, by site */
};

/* Returns the stack's number in the tree, and adds the stack if it is new. Returns UINT32_MAX if
 * there is no memory. */
uint32_t stack_tree_add(struct stack_tree *tree, struct symbols *symbols, uint64_t site_id,
                        struct err *err);
/* Adds "frames", "nodes" and "stacks" to the open object. */
int stack_tree_describe(struct doc *doc, const struct stack_tree *tree, struct symbols *symbols,
                        struct err *err);
void stack_tree_release(struct stack_tree *tree);
