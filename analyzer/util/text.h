/* SPDX-License-Identifier: MIT */
/*
 * A growing string with a maximum, given at init. Failure (out of memory, beyond the maximum) is
 * remembered and asked for once with text_failed. It must not know what is written into it.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_TEXT_H
#define GPUMEMTRACE_ANALYZER_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "gpumemtrace/compiler.h"

struct text {
    char *data; /* always terminated; "" before the first addition */
    size_t length, capacity, limit;
    size_t line_columns; /* where text_add_wrapped wraps */
    bool failed;
};

/* No memory is taken before the first addition; limit is the longest string without the zero. */
void text_init(struct text *text, size_t limit);
/* In a buffer of so many bytes, which outlives it: fails only beyond that. It is not to be released. */
void text_init_in(struct text *text, char *buffer, size_t bytes);
/* Frees the memory; the text can be used again. */
void text_release(struct text *text);
/* Empties the text and keeps its memory. */
void text_clear(struct text *text);
bool text_failed(const struct text *text);

void text_add(struct text *text, const char *addition);
void text_add_bytes(struct text *text, const char *addition, size_t length);
void text_addf(struct text *text, const char *format, ...) GMT_PRINTF(2, 3);
/* Adds the byte count times. */
void text_fill(struct text *text, char byte, size_t count);

/* What a shell reads as one word: as it is, or in quotes. */
void text_add_word(struct text *text, const char *word);

/* "a, b or c" from a list of names; the last separator is given (" or "). */
void text_add_list(struct text *text, const char *const *names, size_t count, const char *last);

/*
 * Adds head and then the words of string, wrapped at line_columns (100 unless set); further lines are
 * indented as deep as head is wide. Ends with a line feed. For ASCII.
 */
void text_add_wrapped(struct text *text, const char *head, const char *string);

#endif
