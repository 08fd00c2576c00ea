/* SPDX-License-Identifier: MIT */
/*
 * Handles UTF-8 for output: code points, and the terminal columns that they take. The result does
 * not depend on the locale, because a trace may come from another machine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define UTF8_REPLACEMENT 0xfffdu

/*
 * Decodes the first code point of a terminated, non-empty string and returns its length in bytes. A
 * byte that starts no valid sequence (RFC 3629) counts as one UTF8_REPLACEMENT.
 */
size_t utf8_next(const char *string, uint32_t *code);

/*
 * Writes the first code point of a terminated, non-empty string, and returns its length in bytes.
 * The output can neither control a terminal nor hide: a control character is written as '?', an
 * invalid byte as U+FFFD, an invisible format character by its number, such as \u{202e}.
 */
size_t utf8_put(const char *string, FILE *out);
/* Adds the whole string, each code point as utf8_put writes it. */
struct text;
void utf8_add(struct text *text, const char *string);

/* Returns the length of the longest prefix that has only whole characters and at most `most`
 * bytes. */
size_t utf8_cut_length(const char *string, size_t most);

/*
 * Returns the columns that the output of utf8_put takes: 0 for combining marks, 2 for wide East
 * Asian characters and emoji.
 */
unsigned utf8_columns(uint32_t code);
size_t utf8_text_columns(const char *string);
