/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow. Only the arithmetic of growing is here: the caller keeps pointer, count and
 * capacity in its own struct and reads the items directly. It must not know what they are.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_ARRAY_H
#define GPUMEMTRACE_ANALYZER_UTIL_ARRAY_H

#include <stddef.h>

#include "gpumemtrace/err.h"

/* As array_grow where there is no room left. */
void *array_double(void *items, size_t *capacity, size_t count, size_t item_bytes, struct err *err);

/*
 * Makes room for at least one more item than count, by doubling. Returns where the items are now;
 * the old pointer is no longer valid. NULL: out of memory (*err says so), and the old pointer
 * stays valid. New items are not cleared.
 */
static inline void *array_grow(void *items, size_t *capacity, size_t count, size_t item_bytes,
                               struct err *err)
{
    return items && count < *capacity ? items
                                      : array_double(items, capacity, count, item_bytes, err);
}

/* As array_reach where the item does not exist yet. */
void *array_extend(void *items, size_t *capacity, size_t *count, size_t item_bytes, size_t number,
                   struct err *err);

/*
 * Makes items[number] exist: all new items up to it are cleared, and *count is then above it.
 * Returns as array_grow does.
 */
static inline void *array_reach(void *items, size_t *capacity, size_t *count, size_t item_bytes,
                                size_t number, struct err *err)
{
    return number < *count ? items : array_extend(items, capacity, count, item_bytes, number, err);
}

/* A cleared array. A count of 0 is allowed. NULL: out of memory, *err says so. */
void *array_new(size_t count, size_t item_bytes, struct err *err);

#endif
