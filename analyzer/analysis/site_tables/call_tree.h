/* SPDX-License-Identifier: MIT */
/*
 * Live memory at a moment as a call tree. Its nodes are the program's own lines, from the outermost
 * inwards, each with the bytes that were allocated at it and below it. A stack without a frame of
 * the program is a separate node at the top.
 *
 *     100 train.py:201 <module>            the bytes of a node are those of its whole branch
 *      80 ├─ train.py:88 main
 *      70 │  └─ model.py:5 forward         its own bytes were allocated at that line itself
 *      20 └─ train.py:90 main
 */
#pragma once

#include "site_rows.h"

struct call_node {
    const char *name; /* owned by the blame */
    uint32_t depth;   /* from 0 */
    size_t end;       /* end of the branch: index of the next node that is not below this one */
    uint64_t bytes, count, own_bytes, own_count;
};

/* The nodes in pre-order, with siblings by bytes descending. */
struct call_tree {
    struct call_node *items;
    size_t count;
};

/* blame: must contain the stacks of these sites, and must outlive the tree. */
int call_tree_find(struct call_tree *tree, const struct sites *sites, const struct blame *blame,
                   struct err *err);
void call_tree_release(struct call_tree *tree);
