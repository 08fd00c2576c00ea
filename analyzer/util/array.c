/* SPDX-License-Identifier: MIT */
/* Growing arrays; see array.h. */
#include "array.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 16 };

int array_double(void *pointer, size_t *capacity, size_t count, size_t item_bytes, struct err *err)
{
    size_t wanted = *capacity ? *capacity : FIRST_CAPACITY, bytes;
    void *grown;
    while (wanted <= count)
        if (GMT_MUL_OVERFLOWS(wanted, (size_t)2, &wanted))
            goto no_memory;
    if (GMT_MUL_OVERFLOWS(wanted, item_bytes, &bytes))
        goto no_memory;
    grown = realloc(array_items(pointer), bytes);
    if (!grown)
        goto no_memory;
    memcpy(pointer, &grown, sizeof grown);
    *capacity = wanted;
    return 0;

no_memory:
    return err_set(err, ERR_SYSTEM, "out of memory for %zu items of %zu bytes", count, item_bytes);
}

int array_extend(void *pointer, size_t *capacity, size_t *count, size_t item_bytes, size_t number,
                 struct err *err)
{
    if (array_grow(pointer, capacity, number, item_bytes, err))
        return -1;
    memset((char *)array_items(pointer) + *count * item_bytes, 0,
           (number + 1 - *count) * item_bytes);
    *count = number + 1;
    return 0;
}

void *array_new(size_t count, size_t item_bytes, struct err *err)
{
    void *items = calloc(count ? count : 1, item_bytes);
    if (!items)
        err_set(err, ERR_SYSTEM, "out of memory for %zu items of %zu bytes", count, item_bytes);
    return items;
}
