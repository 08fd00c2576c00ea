/* SPDX-License-Identifier: MIT */
/* The stream that text is written to: its width, and whether it shows colour. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct window {
    size_t columns;
    bool is_bounded; /* lines are wrapped at the width; false: a file or another program */
    bool has_colour;
    bool has_blocks; /* it shows the characters of pictures.h; false: ASCII only */
};

/* The width is COLUMNS if that variable is set, or the width of the terminal. If there is neither,
 * the width is WINDOW_COLUMNS and lines are not wrapped. There is no colour with NO_COLOR, with
 * TERM=dumb, in a file or in a pipe. Blocks need UTF-8 in LC_ALL, LC_CTYPE or LANG, and a terminal
 * with these characters; the Linux console lacks them. */
#define WINDOW_COLUMNS 100
struct window window_of(FILE *out);
