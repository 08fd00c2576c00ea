/* SPDX-License-Identifier: MIT */
/*
 * A holding as a tree of lines. The children of a node are the lines that it called. The sites of a
 * node are the memory that the line itself allocated.
 */
#pragma once

#include "analyzer/symbol/frame_tree.h"
#include "functions.h"

enum { PATH_NODE_TRAITS = 32 };

struct call_path_node {
    struct call_line call_line;
    uint32_t file;   /* its file, or TEXT_SET_NONE if only this run has the file */
    bool is_inlined; /* compared as a line of the function that called it; see functions.h */
    /* the first site that the line itself allocated: index in holding + 1 */
    uint32_t first_site;
    /*
     * Average bytes of a block, summed over the stacks of the node and of all nodes below it,
     * except those of inlined nodes. each_bytes is the total; traits are the sums by a hash of the
     * called function. They allow two lines to be compared, whatever their names are and whatever
     * is live.
     */
    uint64_t each_bytes;
    uint64_t traits[PATH_NODE_TRAITS];
};

struct call_path_tree {
    const struct holding *holding;
    struct frame_tree lines;      /* a node's frame is a place */
    struct call_path_node *items; /* by node; the first is the parent of the outermost lines */
    size_t count, capacity;
    uint32_t *next_site; /* by site: the next site of the same node, + 1 */
};

/* The holding must outlive the tree. On -1 nothing has to be released. */
int call_path_tree_make(struct call_path_tree *tree, const struct holding *holding,
                        const struct functions *functions, struct err *err);
void call_path_tree_release(struct call_path_tree *tree);

/* Returns the node at the end of a call path, or FRAME_TREE_NONE if the path is not in the tree. */
uint32_t call_path_tree_find(const struct call_path_tree *tree, const struct call_line *call_path,
                             size_t depth);

/* Returns the part of their each_bytes that two nodes have in common. */
uint64_t call_path_node_likeness(const struct call_path_node *a, const struct call_path_node *b);
