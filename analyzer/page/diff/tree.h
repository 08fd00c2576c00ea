/* SPDX-License-Identifier: MIT */
/* A change as the tree of the program's lines, for whoever draws it. It must not know which line is to blame. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_DIFF_TREE_H
#define GPUMEMTRACE_ANALYZER_PAGE_DIFF_TREE_H

#include "analyzer/diff/run_diff.h"
#include "analyzer/page/page.h"

/* "change_tree": all that was live on either side, in the account that changed. */
void page_diff_tree(struct doc *doc, const struct run_diff *change, const struct study *study,
                    uint32_t account);

#endif
