/* SPDX-License-Identifier: MIT */
/*
 * Lines of text: indentation, empty lines between sections, padding, wrapping. What comes out of a
 * trace is not trusted: control characters never reach the terminal. It must not know documents.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_TEXT_LINES_H
#define GPUMEMTRACE_ANALYZER_RENDER_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "window.h"

struct text_lines {
    FILE *out;
    struct window window;
    bool is_bold; /* sentences are, if the window has colour */
    bool started; /* something was written */
    bool gap;     /* an empty line is due before the next line, unless it is the first */
};

/* Begins a line: the empty line that is due, then the indentation. */
void text_lines_begin(struct text_lines *lines, int indent);
/* Adds to the line, padded with spaces to so many columns. */
void text_lines_add(struct text_lines *lines, const char *string, size_t columns);
/* The same of a string that may be wider than that: it loses its middle. */
void text_lines_add_cut(struct text_lines *lines, const char *string, size_t columns);
/* What is left of a string that is wider than so many columns. */
struct text_cut {
    const char *head_end, *tail;
    size_t tail_columns;
};
struct text_cut text_lines_cut(const char *string, size_t columns);
/* Ends the line with a string: a window breaks it between words, and further lines begin at that column. */
void text_lines_add_hanging(struct text_lines *lines, const char *string, size_t column);
/* Whole lines, broken between words: sentences are not wider than WINDOW_COLUMNS. */
void text_lines_add_wrapped(struct text_lines *lines, const char *string, int indent);
/* One line, however wide the window is. */
void text_lines_add_whole(struct text_lines *lines, const char *string, int indent);

#endif
