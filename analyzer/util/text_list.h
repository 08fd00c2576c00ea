/* SPDX-License-Identifier: MIT */
/* A list that owns its texts. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/err.h"

struct text_list {
    char **items;
    size_t count, capacity;
};

int text_list_add(struct text_list *list, struct err *err, const char *format, ...)
    GMT_PRINTF(3, 4);
int text_list_vadd(struct text_list *list, struct err *err, const char *format, va_list arguments)
    GMT_PRINTF(3, 0);
void text_list_release(struct text_list *list);
