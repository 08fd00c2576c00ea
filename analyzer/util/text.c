/* SPDX-License-Identifier: MIT */
/* A growing string with a maximum; see text.h. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 128

static char empty[1]; /* target of data before the first addition; never written */

#define LINE_COLUMNS 100

void text_init(struct text *text, size_t limit)
{
    *text = (struct text){.data = empty, .limit = limit, .line_columns = LINE_COLUMNS};
}

void text_init_in(struct text *text, char *buffer, size_t bytes)
{
    *text = (struct text){
        .data = buffer, .capacity = bytes, .limit = bytes - 1, .line_columns = LINE_COLUMNS};
    *buffer = '\0';
}

void text_release(struct text *text)
{
    if (text->data != empty)
        free(text->data);
    text_init(text, text->limit);
}

void text_clear(struct text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->data != empty)
        text->data[0] = '\0';
}

bool text_failed(const struct text *text)
{
    return text->failed;
}

/* Makes room for `length` more bytes and the terminator. */
static bool reserve(struct text *text, size_t length)
{
    if (text->failed || length > text->limit - text->length)
        goto fail;
    size_t needed = text->length + length + 1;
    if (needed <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity = capacity > needed / 2 ? capacity * 2 : needed;
    char *data = realloc(text->data == empty ? NULL : text->data, capacity);
    if (!data)
        goto fail;
    text->data = data;
    text->capacity = capacity;
    return true;
fail:
    text->failed = true;
    return false;
}

void text_add_bytes(struct text *text, const char *addition, size_t length)
{
    if (!reserve(text, length))
        return;
    memcpy(text->data + text->length, addition, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *addition)
{
    text_add_bytes(text, addition, strlen(addition));
}

void text_fill(struct text *text, char byte, size_t count)
{
    if (!reserve(text, count))
        return;
    memset(text->data + text->length, byte, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void text_addf(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if (!reserve(text, (size_t)length))
        return;
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void text_add_list(struct text *text, const char *const *names, size_t count, const char *last)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_add(text, i + 1 < count ? ", " : last);
        text_add(text, names[i]);
    }
}

void text_add_wrapped(struct text *text, const char *head, const char *string)
{
    size_t indent = strlen(head), used = indent;
    text_add(text, head);
    for (;;) {
        string += strspn(string, " ");
        size_t length = strcspn(string, " ");
        if (length == 0)
            break;
        if (used > indent && used + 1 + length > text->line_columns) {
            text_add(text, "\n");
            text_fill(text, ' ', indent);
            used = indent;
        } else if (used > indent) {
            text_add(text, " ");
            used++;
        }
        text_add_bytes(text, string, length);
        used += length;
        string += length;
    }
    text_add(text, "\n");
}

void text_add_word(struct text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./+:@%,=";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(text, word);
        return;
    }
    text_add(text, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(text, "'\\''");
        else
            text_add_bytes(text, word, 1);
    text_add(text, "'");
}
