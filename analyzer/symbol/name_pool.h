/* SPDX-License-Identifier: MIT */
/*
 * Texts that live as long as the names of a trace: demangled symbols, "libfoo.so+0x1234", paths of
 * found files. It must not know what they say.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_NAME_POOL_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_NAME_POOL_H

#include <stddef.h>

#include "gpumemtrace/err.h"

/* Zeroed is empty and ready. */
struct name_pool {
    char **texts;
    size_t count, capacity;
};

/* Takes over a text from malloc and returns it; NULL (also for NULL): no memory, told in *err. */
const char *name_pool_take(struct name_pool *pool, char *text, struct err *err);
const char *name_pool_addf(struct name_pool *pool, struct err *err, const char *format, ...)
    GMT_PRINTF(3, 4);
void name_pool_release(struct name_pool *pool);

#endif
