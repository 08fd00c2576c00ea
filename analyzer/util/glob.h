/* SPDX-License-Identifier: MIT */
/*
 * Patterns of names: * matches any bytes, ? matches one byte, and [abc] matches one of the bytes in
 * brackets. Matching takes one pass over the text, however many stars there are.
 */
#pragma once

#include <stdbool.h>

/* True if the whole text matches. */
bool glob_match(const char *pattern, const char *text);
