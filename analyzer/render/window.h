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
};

/* COLUMNS decides, else the terminal; neither: WINDOW_COLUMNS, not bounded. NO_COLOR and a terminal that
 * is none (TERM dumb, a file, a pipe) have no colour. */
#define WINDOW_COLUMNS 100
struct window window_of(FILE *out);

#endif
