/* SPDX-License-Identifier: MIT */
/*
 * A growing string with a maximum length. A failure (out of memory, or more than the maximum) is
 * remembered. It is enough to ask for it once, with text_failed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "gpumemtrace/compiler.h"

struct text {
    char *data; /* always terminated; "" before the first addition */
    size_t length, capacity, limit;
    size_t line_columns; /* where text_add_wrapped wraps */
    bool failed;
};

/* Takes no memory before the first addition. `limit` is the longest length without the
 * terminator. */
void text_init(struct text *text, size_t limit);
/*
 * Uses a buffer of `bytes` bytes, which must outlive the text. Additions fail only when the buffer
 * is full. Do not release such a text.
 */
void text_init_in(struct text *text, char *buffer, size_t bytes);
/* Frees the memory; the text can be used again. */
void text_release(struct text *text);
/* Empties the text and keeps its memory. */
void text_clear(struct text *text);
bool text_failed(const struct text *text);

void text_add(struct text *text, const char *addition);
void text_add_bytes(struct text *text, const char *addition, size_t length);
void text_addf(struct text *text, const char *format, ...) GMT_PRINTF(2, 3);
/* Adds `byte` count times. */
void text_fill(struct text *text, char byte, size_t count);

/* Adds a word as a shell reads it: unchanged, or in quotes if needed. */
void text_add_word(struct text *text, const char *word);

/* Adds "a, b or c" from a list of names; `last` is the last separator (" or "). */
void text_add_list(struct text *text, const char *const *names, size_t count, const char *last);

/*
 * Adds `head` and then the words of `string`, wrapped at line_columns (100 unless set); further
 * lines are indented by the width of `head`. Ends with a line feed. ASCII only.
 */
void text_add_wrapped(struct text *text, const char *head, const char *string);

/* The last name in a path: "libfoo.so" of "/usr/lib/libfoo.so". */
static inline const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
