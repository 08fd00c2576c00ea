/* SPDX-License-Identifier: MIT */
/*
 * Lines of a text page: indentation, empty lines between sections, padding, wrapping. What comes
 * out of a trace is not trusted: control characters never reach the terminal. It must not know
 * documents.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_PAGE_H
#define GPUMEMTRACE_ANALYZER_RENDER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PAGE_COLUMNS 100

struct page {
    FILE *out;
    bool started; /* something was written */
    bool gap;     /* an empty line is due before the next line, unless the page begins with it */
};

/* Begins a line: the empty line that is due, then the indentation. */
void page_line(struct page *page, int indent);
/* Adds to the line, padded with spaces to so many columns. */
void page_text(struct page *page, const char *string, size_t columns);
/* Whole lines, broken between words. */
void page_wrapped(struct page *page, const char *string, int indent);

#endif
