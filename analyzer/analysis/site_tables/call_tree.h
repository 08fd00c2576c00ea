/* SPDX-License-Identifier: MIT */
/*
 * What is live at a moment as a tree of calls: the program's own lines from the outermost inwards, each
 * with the bytes of all that was allocated below it. A stack without a frame of the program is a
 * line of its own at the top. It must not know how a tree is shown.
 *
 *     100 train.py:201 <module>            a node, its bytes those of the whole branch
 *      80 ├─ train.py:88 main
 *      70 │  └─ model.py:5 forward         own bytes: what was allocated at that line itself
 *      20 └─ train.py:90 main
 */
#ifndef GPUMEMTRACE_ANALYZER_SITE_TABLES_CALL_TREE_H
#define GPUMEMTRACE_ANALYZER_SITE_TABLES_CALL_TREE_H

#include "site_rows.h"

struct call_node {
    const char *name; /* belongs to the blame */
    uint32_t depth;   /* from 0 */
    size_t end;       /* where the branch ends: the next node that is not below this one */
    uint64_t bytes, count, own_bytes, own_count;
};

/* Each node is followed by its branch, in which the largest child comes first. */
struct call_tree {
    struct call_node *items;
    size_t count;
};

/* blame is that of the sites, and outlives the tree. */
int call_tree_find(struct call_tree *tree, const struct sites *sites, const struct blame *blame,
                   struct err *err);
void call_tree_release(struct call_tree *tree);

#endif
