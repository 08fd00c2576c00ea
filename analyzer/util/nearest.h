/* SPDX-License-Identifier: MIT */
/*
 * Which known name a mistyped one is nearest to. It must not know what the names name.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_NEAREST_H
#define GPUMEMTRACE_ANALYZER_UTIL_NEAREST_H

#include <stddef.h>

/*
 * Edits (insert, delete, replace, swap neighbours) that make one name the other. Names longer than
 * NEAREST_NAME_MAX are far from everything.
 */
#define NEAREST_NAME_MAX 40
unsigned nearest_distance(const char *a, const char *b);

/* The nearest of count names, if it takes at most one edit in three bytes; else NULL. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);

/* "; did you mean 'report'?" of that name, or "" without one. */
#define NEAREST_HINT_BYTES (NEAREST_NAME_MAX + 32)
const char *nearest_hint(char hint[NEAREST_HINT_BYTES], const char *typed, const char *const *names,
                         size_t count);

#endif
