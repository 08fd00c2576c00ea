/* SPDX-License-Identifier: MIT */
/* Bars and curves; see pictures.h. */
#include "pictures.h"

#include <math.h>
#include <string.h>

/* Writes a character from U+2500 to U+2FFF as UTF-8. */
static char *put_picture(char *out, unsigned code)
{
    *out++ = (char)0xe2;
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
    return out;
}

void picture_bar(char *out, double share, size_t columns, bool has_blocks)
{
    enum { FULL = 0x2588, BEHIND_EIGHTHS = 0x2590 }; /* U+2589 to U+258F: seven eighths to one */
    const double bounded = share > 0 ? fmin(share, 1) : 0;
    if (!has_blocks) {
        const size_t length = (size_t)(bounded * (double)columns + 0.5);
        memset(out, '#', length);
        out[length] = '\0';
        return;
    }
    const size_t eighths = (size_t)(bounded * (double)columns * 8 + 0.5);
    for (size_t i = 0; i < eighths / 8; i++)
        out = put_picture(out, FULL);
    if (eighths % 8)
        out = put_picture(out, BEHIND_EIGHTHS - (unsigned)(eighths % 8));
    *out = '\0';
}

/* --- graphs --- */

enum { BRAILLE = 0x2800, DOTS_ACROSS = 2, DOTS_DOWN = 4 };

/* Returns how many dots are lit in dot column `at` of `across` columns. The lit dots are the lowest
 * of the `down` dots. */
static size_t height_at(const struct picture_graph *graph, size_t at, size_t across, size_t down)
{
    const size_t first = at * graph->count / across;
    size_t end = (at + 1) * graph->count / across;
    int64_t most = 0;
    if (end == first)
        end = first + 1;
    for (size_t i = first; i < end && i < graph->count; i++)
        if (graph->values[i] > most)
            most = graph->values[i];
    const double share = fmin((double)most / (double)graph->top, 1);
    return (size_t)ceil(share * (double)down);
}

/* Returns the braille character of a column and row of the graph; 0: empty. */
static unsigned braille_at(const struct picture_graph *graph, size_t column, size_t row)
{
    static const uint8_t dots[DOTS_ACROSS][DOTS_DOWN] = {{0x40, 0x04, 0x02, 0x01},
                                                         {0x80, 0x20, 0x10, 0x08}}; /* from below */
    const size_t below = (graph->rows - 1 - row) * DOTS_DOWN;
    unsigned lit = 0;
    for (size_t half = 0; half < DOTS_ACROSS; half++) {
        const size_t height = height_at(graph, column * DOTS_ACROSS + half,
                                        graph->columns * DOTS_ACROSS, graph->rows * DOTS_DOWN);
        for (size_t i = 0; i < DOTS_DOWN && below + i < height; i++)
            lit |= dots[half][i];
    }
    return lit;
}

void picture_graph_line(char *out, const struct picture_graph *graph, size_t row)
{
    char *end = out;
    for (size_t column = 0; column < graph->columns; column++) {
        const unsigned lit = graph->has_braille ? braille_at(graph, column, row)
                                                : height_at(graph, column, graph->columns,
                                                            graph->rows) >= graph->rows - row;
        if (!lit)
            *out++ = ' ';
        else if (graph->has_braille)
            end = out = put_picture(out, BRAILLE + lit);
        else
            *out++ = '#', end = out;
    }
    *end = '\0';
}
