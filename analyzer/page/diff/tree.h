/* SPDX-License-Identifier: MIT */
/* A change as the tree of the program's lines, for readers that draw it. */
#pragma once

#include "analyzer/diff/run_diff.h"
#include "analyzer/page/page.h"

/* Adds "change_tree": all bytes that were live before or after, in the account that changed. */
void page_diff_tree(struct doc *doc, const struct run_diff *change, const struct study *study,
                    uint32_t account);
