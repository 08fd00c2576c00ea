/* SPDX-License-Identifier: MIT */
/* The rows of a change, as diff and check show them. It must not know which line is to blame. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_DIFF_ROWS_H
#define GPUMEMTRACE_ANALYZER_PAGE_DIFF_ROWS_H

#include "analyzer/diff/run_diff.h"
#include "analyzer/page/page.h"

/* A list of the rows; grown_only leaves out what shrank. */
void page_diff_rows(struct doc *doc, const struct run_diff *change, const struct view *view,
                    const char *key, const char *heading, bool grown_only);

/* "; gpt.py:25 Layer.attend grew by 1.00 MiB" or what the input explains; "" where nothing grew. */
#define PAGE_GUILTY_BYTES 1024
const char *page_diff_guilty(const struct run_diff *change, char text[PAGE_GUILTY_BYTES]);

#endif
