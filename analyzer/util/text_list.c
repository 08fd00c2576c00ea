/* SPDX-License-Identifier: MIT */
/* A list that owns its texts; see text_list.h. */
#include "text_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "array.h"

int text_list_vadd(struct text_list *list, struct err *err, const char *format, va_list arguments)
{
    if (ARRAY_GROW(list->items, list->capacity, list->count, err))
        return -1;
    if (vasprintf(&list->items[list->count], format, arguments) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory for a sentence");
    list->count++;
    return 0;
}

int text_list_add(struct text_list *list, struct err *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int status = text_list_vadd(list, err, format, arguments);
    va_end(arguments);
    return status;
}

void text_list_release(struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct text_list){0};
}
