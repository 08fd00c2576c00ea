/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 as output needs it: code points, how many terminal columns they take. It does not depend
 * on the locale, because a trace may come from another machine.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_UTF8_H
#define GPUMEMTRACE_ANALYZER_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define UTF8_REPLACEMENT 0xfffdu

/*
 * Takes one code point from the start of a terminated, non-empty string and returns its length in
 * bytes. A byte that starts no valid sequence (RFC 3629) counts as one UTF8_REPLACEMENT.
 */
size_t utf8_next(const char *string, uint32_t *code);

/*
 * Writes the first code point of a terminated, non-empty string so that it can neither control a
 * terminal nor hide, and returns its length in bytes: a control character as '?', a byte that is no
 * UTF-8 as U+FFFD, an invisible format character by its number, as \u{202e}.
 */
size_t utf8_put(const char *string, FILE *out);
/* Adds all of the string that way. */
struct text;
void utf8_add(struct text *text, const char *string);

/* The length of the string, or of as many whole characters as `most` bytes hold. */
size_t utf8_cut_length(const char *string, size_t most);

/* Columns of what utf8_put writes: 0 for combining marks, 2 for wide East Asian characters and
 * emoji. */
unsigned utf8_columns(uint32_t code);
size_t utf8_text_columns(const char *string);

#endif
