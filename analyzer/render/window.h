/* SPDX-License-Identifier: MIT */
/* What text is written to: how wide it is, and whether it shows colour. It must not know what is written. */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_WINDOW_H
#define GPUMEMTRACE_ANALYZER_RENDER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct window {
    size_t columns;
    bool is_bounded; /* a longer line would be broken; else it is a file or another program */
    bool has_colour;
    bool has_blocks; /* it shows the characters of pictures.h, not ASCII alone */
};

/* COLUMNS decides, else the terminal; neither: WINDOW_COLUMNS, not bounded. NO_COLOR and a terminal that
 * is none (TERM dumb, a file, a pipe) have no colour. Blocks need UTF-8, as LC_ALL, LC_CTYPE or LANG says, and a
 * terminal with the characters: the console of Linux has them not. */
#define WINDOW_COLUMNS 100
struct window window_of(FILE *out);

#endif
