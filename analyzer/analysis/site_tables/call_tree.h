/* SPDX-License-Identifier: MIT */
/*
 * Live memory at a moment as a call tree: the program's own lines from the outermost inwards, each
 * with the bytes that were allocated below it. A stack without a frame of the program is a line of
 * its own at the top.
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
    const char *name; /* owned by the blame */
    uint32_t depth;   /* from 0 */
    size_t end;       /* end of the branch: the next node that is not below this one */
    uint64_t bytes, count, own_bytes, own_count;
};

/* In pre-order, siblings by bytes descending. */
struct call_tree {
    struct call_node *items;
    size_t count;
};

/* blame: of these sites; must outlive the tree. */
int call_tree_find(struct call_tree *tree, const struct sites *sites, const struct blame *blame,
                   struct err *err);
void call_tree_release(struct call_tree *tree);

#endif
