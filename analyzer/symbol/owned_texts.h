/* SPDX-License-Identifier: MIT */
/* Texts that have one owner and are freed together: demangled symbols, offsets in modules such as
 * "libfoo.so+0x1234", and paths of files. */
#pragma once

#include <stddef.h>

#include "gpumemtrace/err.h"

/* A zeroed struct is empty and ready for use. */
struct owned_texts {
    char **items;
    size_t count, capacity;
};

/*
 * Takes ownership of a text from malloc, and returns the text. Returns NULL if memory ran out,
 * which is also the case if text is NULL.
 */
const char *owned_texts_take(struct owned_texts *texts, char *text, struct err *err);
const char *owned_texts_addf(struct owned_texts *texts, struct err *err, const char *format, ...)
    GMT_PRINTF(3, 4);
void owned_texts_release(struct owned_texts *texts);
