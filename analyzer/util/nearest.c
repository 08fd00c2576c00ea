/* SPDX-License-Identifier: MIT */
/* The nearest known name by optimal string alignment distance; see nearest.h. */
#include "nearest.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/*
 * Optimal string alignment distance. rows[i % 3][j] is the distance between the first i bytes of a
 * and the first j of b. Three rows are kept, because a swap looks back two rows.
 */
unsigned nearest_distance(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    unsigned rows[3][NEAREST_NAME_MAX + 1];
    if (a_length > NEAREST_NAME_MAX || b_length > NEAREST_NAME_MAX)
        return UINT_MAX;
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned replace = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(replace, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *nearest_name(const char *typed, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    unsigned best = (unsigned)least((unsigned)strnlen(typed, NEAREST_NAME_MAX) / 3 + 1, 4);
    for (size_t i = 0; i < count; i++) {
        unsigned distance = nearest_distance(typed, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

const char *nearest_hint(char hint[NEAREST_HINT_BYTES], const char *typed, const char *const *names,
                         size_t count)
{
    const char *nearest = nearest_name(typed, names, count);
    hint[0] = '\0';
    if (nearest)
        snprintf(hint, NEAREST_HINT_BYTES, "; did you mean '%s'?", nearest);
    return hint;
}
