/* SPDX-License-Identifier: MIT */
/* Growing arrays; see array.h. */
#include "array.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

void *array_double(void *items, size_t *capacity, size_t count, size_t item_bytes, struct err *err)
{
    size_t wanted = *capacity ? *capacity : FIRST_CAPACITY, bytes;
    void *grown;
    while (wanted <= count)
        if (GMT_MUL_OVERFLOWS(wanted, (size_t)2, &wanted))
            goto no_memory;
    if (GMT_MUL_OVERFLOWS(wanted, item_bytes, &bytes))
        goto no_memory;
    grown = realloc(items, bytes);
    if (!grown)
        goto no_memory;
    *capacity = wanted;
    return grown;

no_memory:
    err_set(err, ERR_SYSTEM, "out of memory for %zu items of %zu bytes", count, item_bytes);
    return NULL;
}

void *array_extend(void *items, size_t *capacity, size_t *count, size_t item_bytes, size_t number,
                   struct err *err)
{
    char *grown = array_grow(items, capacity, number, item_bytes, err);
    if (!grown)
        return NULL;
    memset(grown + *count * item_bytes, 0, (number + 1 - *count) * item_bytes);
    *count = number + 1;
    return grown;
}

void *array_new(size_t count, size_t item_bytes, struct err *err)
{
    void *items = calloc(count ? count : 1, item_bytes);
    if (!items)
        err_set(err, ERR_SYSTEM, "out of memory for %zu items of %zu bytes", count, item_bytes);
    return items;
}
