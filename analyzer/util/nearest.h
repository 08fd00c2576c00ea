/* SPDX-License-Identifier: MIT */
/* Finds the known name that is nearest to a mistyped one. */
#pragma once

#include <stddef.h>

/*
 * Returns the number of edits (insert, delete, replace, swap neighbours) that turn one name into
 * the other. UINT_MAX: a name is longer than NEAREST_NAME_MAX.
 */
#define NEAREST_NAME_MAX 40
unsigned nearest_distance(const char *a, const char *b);

/* Returns the nearest of `count` names if it needs at most one edit in three bytes; NULL: there is
 * no such name. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);

/* Returns "; did you mean 'report'?" with the nearest name, or "" if no name is near enough. */
#define NEAREST_HINT_BYTES (NEAREST_NAME_MAX + 32)
const char *nearest_hint(char hint[NEAREST_HINT_BYTES], const char *typed, const char *const *names,
                         size_t count);
