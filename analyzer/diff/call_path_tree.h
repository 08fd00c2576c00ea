/* SPDX-License-Identifier: MIT */
/*
 * A holding as a tree: below each line of the program the lines that it called, and below these what
 * they allocated. It must not know the other side.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_CALL_PATH_TREE_H
#define GPUMEMTRACE_ANALYZER_DIFF_CALL_PATH_TREE_H

#include "holding.h"

#define PATH_NODE_NONE UINT32_MAX
enum { PATH_NODE_TRAITS = 32 };

struct call_path_node {
    struct call_line call_line;
    uint32_t first_child, next; /* by file, function and line; PATH_NODE_NONE: none */
    uint32_t first_site;        /* of the holding, + 1; 0: none: what this very line allocated */
    /* Of it and all below, bytes of a block of each stack: how alike two lines are, whatever they are called
     * and whatever of them is live. In all, and by what was called, in so many classes. */
    uint64_t each_bytes;
    uint64_t traits[PATH_NODE_TRAITS];
};

struct call_path_tree {
    const struct holding *holding;
    struct call_path_node *items; /* the first is above the outermost lines */
    size_t count, capacity;
    uint32_t *next_site; /* by site: the next one of its node, + 1 */
};

/* The holding outlives the tree. On -1 nothing has to be released. */
int call_path_tree_make(struct call_path_tree *tree, const struct holding *holding,
                        struct err *err);
void call_path_tree_release(struct call_path_tree *tree);

/* The node at the end of a call path; PATH_NODE_NONE: the tree has none such. */
uint32_t call_path_tree_find(const struct call_path_tree *tree, const struct call_line *call_path,
                             size_t depth);

/* How many of their each_bytes two lines have in common. */
uint64_t call_path_node_likeness(const struct call_path_node *a, const struct call_path_node *b);

#endif
