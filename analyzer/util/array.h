/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow. The caller keeps pointer, count and capacity in its own struct, and reads the
 * items directly.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_ARRAY_H
#define GPUMEMTRACE_ANALYZER_UTIL_ARRAY_H

#include <stddef.h>

#include "gpumemtrace/err.h"

/* The slow path of array_grow, which is taken when the array is full. */
void *array_double(void *items, size_t *capacity, size_t count, size_t item_bytes, struct err *err);

/*
 * Makes room for at least one more item than count, by doubling. Returns the new address of the
 * items; the old pointer is then invalid. NULL: out of memory (*err says so), and the old pointer
 * stays valid. New items are not cleared.
 */
static inline void *array_grow(void *items, size_t *capacity, size_t count, size_t item_bytes,
                               struct err *err)
{
    return items && count < *capacity ? items
                                      : array_double(items, capacity, count, item_bytes, err);
}

/* The slow path of array_reach, which is taken when the item does not exist yet. */
void *array_extend(void *items, size_t *capacity, size_t *count, size_t item_bytes, size_t number,
                   struct err *err);

/*
 * Makes sure that items[number] exists: clears all new items up to it, and sets *count above it.
 * Returns the same as array_grow.
 */
static inline void *array_reach(void *items, size_t *capacity, size_t *count, size_t item_bytes,
                                size_t number, struct err *err)
{
    return number < *count ? items : array_extend(items, capacity, count, item_bytes, number, err);
}

/* Returns a cleared array; count may be 0. NULL: out of memory, *err says so. */
void *array_new(size_t count, size_t item_bytes, struct err *err);

#endif
