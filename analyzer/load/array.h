/* SPDX-License-Identifier: MIT */
/*
 * Growing arrays. It owns only the arithmetic of growing: the caller keeps pointer, count and
 * capacity in its own struct, so that reading an array needs no accessor.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_ARRAY_H
#define GPUMEMTRACE_ANALYZER_LOAD_ARRAY_H

#include <stddef.h>

#include "gpumemtrace/err.h"

/*
 * Room for at least one more item than count, by doubling. Returns the new place of the items; the
 * old pointer is then dead. NULL: no memory (told in *err), the old pointer is still good. New
 * items are not cleared.
 */
void *array_grow(void *items, size_t *capacity, size_t count, size_t item_bytes, struct err *err);

/* calloc with a checked size that never returns NULL for a count of 0. */
void *array_new(size_t count, size_t item_bytes, struct err *err);

#endif
