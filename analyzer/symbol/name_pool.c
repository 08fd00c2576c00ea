/* SPDX-License-Identifier: MIT */
/* Owned texts; see name_pool.h. */
#include "name_pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/util/array.h"

const char *name_pool_take(struct name_pool *pool, char *text, struct err *err)
{
    char **grown = NULL;

    if (text)
        grown = array_grow(pool->texts, &pool->capacity, pool->count, sizeof *grown, err);
    else
        err_set(err, ERR_SYSTEM, "not enough memory for the names of frames");
    if (!grown) {
        free(text);
        return NULL;
    }
    pool->texts = grown;
    grown[pool->count++] = text;
    return text;
}

const char *name_pool_addf(struct name_pool *pool, struct err *err, const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return name_pool_take(pool, length < 0 ? NULL : text, err);
}

void name_pool_release(struct name_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        free(pool->texts[i]);
    free(pool->texts);
    *pool = (struct name_pool){0};
}
