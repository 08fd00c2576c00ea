/* SPDX-License-Identifier: MIT */
/*
 * A holding as a tree: below each line of the program the lines that it called, and below these what
 * they allocated. It must not know the other side.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_WAY_TREE_H
#define GPUMEMTRACE_ANALYZER_DIFF_WAY_TREE_H

#include "holding.h"

#define WAY_NONE UINT32_MAX
enum { WAY_TRAITS = 32 };

struct way_node {
    struct held_step step;
    uint32_t first_child, next; /* by file, function and line; WAY_NONE: none */
    uint32_t first_site;        /* of the holding, + 1; 0: none: what this very line allocated */
    /* Of it and all below, bytes of a block of each stack: how alike two lines are, whatever they are called
     * and whatever of them is live. In all, and by what was called, in so many classes. */
    uint64_t each_bytes;
    uint64_t traits[WAY_TRAITS];
};

struct way_tree {
    const struct holding *holding;
    struct way_node *items; /* the first is above the outermost lines */
    size_t count, capacity;
    uint32_t *next_site; /* by site: the next one of its node, + 1 */
};

/* The holding outlives the tree. On -1 nothing has to be released. */
int way_tree_make(struct way_tree *tree, const struct holding *holding, struct err *err);
void way_tree_release(struct way_tree *tree);

/* The node at the end of a way; WAY_NONE: the tree has no such way. */
uint32_t way_tree_find(const struct way_tree *tree, const struct held_step *way, size_t depth);

/* How many of their each_bytes two lines have in common. */
uint64_t way_likeness(const struct way_node *a, const struct way_node *b);

#endif
