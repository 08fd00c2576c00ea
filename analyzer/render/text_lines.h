/* SPDX-License-Identifier: MIT */
/* Writes lines of text with indentation, empty lines between sections, padding and wrapping. Texts
 * from a trace are not trusted: control characters never reach the terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "window.h"

struct text_lines {
    FILE *out;
    struct window window;
    bool is_bold; /* sentences are bold, if the window has colour */
    bool started; /* something was written */
    bool gap;     /* write an empty line before the next line, unless it is the first */
};

/* Begins a line: writes an empty line if one is pending, and the indentation. */
void text_lines_begin(struct text_lines *lines, int indent);
/* Adds a string, padded with spaces to `columns`. */
void text_lines_add(struct text_lines *lines, const char *string, size_t columns);
/* Does the same as text_lines_add, but a string that is wider than `columns` loses its middle. */
void text_lines_add_cut(struct text_lines *lines, const char *string, size_t columns);
/* The two ends that remain of a string that is cut to fewer columns. */
struct text_cut {
    const char *head_end, *tail;
    size_t tail_columns;
};
struct text_cut text_lines_cut(const char *string, size_t columns);
/* Ends the line with a string. In a window the string is wrapped between words, and further lines
 * begin at `column`. */
void text_lines_add_hanging(struct text_lines *lines, const char *string, size_t column);
/* Writes whole lines, wrapped between words at the window's width, at most WINDOW_COLUMNS. */
void text_lines_add_wrapped(struct text_lines *lines, const char *string, int indent);
/* Writes one line and never wraps it. */
void text_lines_add_whole(struct text_lines *lines, const char *string, int indent);
