/* SPDX-License-Identifier: MIT */
/*
 * Patterns of names: * stands for any bytes, ? for any one, [abc] for one of these. Matching takes one pass over the
 * text, however many stars there are. It must not know what a name means.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_GLOB_H
#define GPUMEMTRACE_ANALYZER_UTIL_GLOB_H

#include <stdbool.h>

/* Whether the whole text matches. */
bool glob_match(const char *pattern, const char *text);

#endif
