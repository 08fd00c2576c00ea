/* SPDX-License-Identifier: MIT */
/* The rows of a change, as `diff` and `check` show them. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_DIFF_ROWS_H
#define GPUMEMTRACE_ANALYZER_PAGE_DIFF_ROWS_H

#include "analyzer/diff/more.h"
#include "analyzer/page/page.h"

/* Adds a list of the rows; grown_only leaves out the rows that shrank. */
void page_diff_rows(struct doc *doc, const struct run_diff *change, const struct view *view,
                    const char *key, const char *heading, bool grown_only);

/* "gpt.py:25 Layer.attend: it holds 1.00 MiB more", or the input that explains the growth; "" if
 * nothing grew. */
#define PAGE_MORE_BYTES 2048
const char *page_more(const struct more *more, char text[PAGE_MORE_BYTES]);
/* The same text for a whole change. */
const char *page_diff_guilty(const struct run_diff *change, char text[PAGE_MORE_BYTES]);
/* "gpt.py:25 Layer.attend: it holds 1.00 MiB less"; "" if nothing shrank. */
const char *page_diff_shrunk(const struct run_diff *change, char text[PAGE_MORE_BYTES]);
/* Says which moments are compared if the two peaks are in different parts of the program. 1, or
 * -1. */
int page_diff_moved(struct opening *opening, const struct run_diff *change);
/* Says how the line to blame came to hold more, if that is known: its blocks live longer, are
 * larger, or are more. 1, or -1. */
int page_diff_how(struct opening *opening, const struct run_diff *change);

#endif
