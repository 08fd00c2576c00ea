/* SPDX-License-Identifier: MIT */
/* The rows of a change, as diff and check show them. It must not know which line is to blame. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_DIFF_ROWS_H
#define GPUMEMTRACE_ANALYZER_PAGE_DIFF_ROWS_H

#include "analyzer/diff/more.h"
#include "analyzer/page/page.h"

/* A list of the rows; grown_only leaves out what shrank. */
void page_diff_rows(struct doc *doc, const struct run_diff *change, const struct view *view,
                    const char *key, const char *heading, bool grown_only);

/* "gpt.py:25 Layer.attend: it holds 1.00 MiB more", or what the input explains; "" where nothing is more. */
#define PAGE_MORE_BYTES 2048
const char *page_more(const struct more *more, char text[PAGE_MORE_BYTES]);
/* The same of a change. */
const char *page_diff_guilty(const struct run_diff *change, char text[PAGE_MORE_BYTES]);
/* "gpt.py:25 Layer.attend: it holds 1.00 MiB less"; "" where nothing is less. */
const char *page_diff_shrunk(const struct run_diff *change, char text[PAGE_MORE_BYTES]);
/* Where the peaks are in different parts of the program: which moment is compared in place of one. 1, or -1. */
int page_diff_moved(struct opening *opening, const struct run_diff *change);
/* Adds a sentence where it is known how the line to blame came to hold more: it holds what it makes longer, or makes
 * larger blocks, or more. 1, or -1. */
int page_diff_how(struct opening *opening, const struct run_diff *change);

#endif
