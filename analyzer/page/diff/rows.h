/* SPDX-License-Identifier: MIT */
/* The rows of a change, as `diff` and `check` show them. */
#pragma once

#include "analyzer/diff/more.h"
#include "analyzer/page/page.h"

/* Adds "delta_bytes", "before_bytes" and "after_bytes". */
void page_change(struct doc *doc, const uint64_t bytes[2]);
/* Adds a list of the rows. If grown_only is set, leaves out the rows that shrank. */
void page_diff_rows(struct doc *doc, const struct run_diff *change, const struct view *view,
                    const char *key, const char *heading, bool grown_only);

/* Writes "gpt.py:25 Layer.attend: it holds 1.00 MiB more", or names the input that explains the
 * growth. Writes "" if nothing grew. */
#define PAGE_MORE_BYTES 2048
const char *page_more(const struct more *more, char text[PAGE_MORE_BYTES]);
/* Writes the same text for a whole change. */
const char *page_diff_guilty(const struct run_diff *change, char text[PAGE_MORE_BYTES]);
/* Writes "gpt.py:25 Layer.attend: it holds 1.00 MiB less", or "" if nothing shrank. */
const char *page_diff_shrunk(const struct run_diff *change, char text[PAGE_MORE_BYTES]);
