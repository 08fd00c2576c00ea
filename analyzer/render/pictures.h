/* SPDX-License-Identifier: MIT */
/* Draws shares and series with characters: with eighths of blocks and braille if the terminal has
 * these characters, and with '#' if not. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PICTURE_COLUMN_BYTES 3 /* bytes of one character in UTF-8 */

/* Draws a bar; a share of 1 is `columns` wide. out holds that many characters and a 0. */
void picture_bar(char *out, double share, size_t columns, bool has_blocks);

/* A filled curve. The values are divided among its columns; a column shows the highest of its
 * values. A value above 0 shows at least one dot. */
struct picture_graph {
    const int64_t *values; /* negative: unknown, drawn as nothing */
    size_t count;
    int64_t top; /* value of the full height, at least 1 */
    size_t columns, rows;
    bool has_braille;
};
/* Writes one line of the graph without trailing spaces; row 0 is the highest. */
void picture_graph_line(char *out, const struct picture_graph *graph, size_t row);
