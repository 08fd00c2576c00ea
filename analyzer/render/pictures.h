/* SPDX-License-Identifier: MIT */
/*
 * Shares and series as characters of a terminal: eighths of blocks and braille where it has them, else
 * '#'. It must not know what they say.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_PICTURES_H
#define GPUMEMTRACE_ANALYZER_RENDER_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PICTURE_COLUMN_BYTES 3 /* of one character */

/* A bar that is `columns` wide where the share is 1. out: room for that many characters and a 0. */
void picture_bar(char *out, double share, size_t columns, bool has_blocks);

/*
 * A filled curve. Its columns share the values among them, and each shows the highest of its own; a
 * value above 0 shows as at least a dot.
 */
struct picture_graph {
    const int64_t *values; /* negative: unknown, drawn as nothing */
    size_t count;
    int64_t top; /* what reaches the top, at least 1 */
    size_t columns, rows;
    bool has_braille;
};
/* One line of it, row 0 the highest; without spaces at its end. */
void picture_graph_line(char *out, const struct picture_graph *graph, size_t row);

#endif
