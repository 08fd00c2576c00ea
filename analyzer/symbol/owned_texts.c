/* SPDX-License-Identifier: MIT */
/* Texts with one owner; see owned_texts.h. */
#include "owned_texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/util/array.h"

const char *owned_texts_take(struct owned_texts *texts, char *text, struct err *err)
{
    if (!text) {
        err_set(err, ERR_SYSTEM, "out of memory for the names of frames");
        return NULL;
    }
    if (ARRAY_GROW(texts->items, texts->capacity, texts->count, err)) {
        free(text);
        return NULL;
    }
    return texts->items[texts->count++] = text;
}

const char *owned_texts_addf(struct owned_texts *texts, struct err *err, const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return owned_texts_take(texts, length < 0 ? NULL : text, err);
}

void owned_texts_release(struct owned_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct owned_texts){0};
}
