/* SPDX-License-Identifier: MIT */
/* Binary search in arrays that are sorted by an unsigned member of their items. */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_SORTED_H
#define GPUMEMTRACE_ANALYZER_UTIL_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The number of items whose member is less than `key`, and the number of those whose member is at
 * most `key`. `type` is the type of the items, member is one of 4 or 8 bytes. */
#define SORTED_BELOW(type, member, items, count, key)                                              \
    sorted_count(items, count, sizeof(type), offsetof(type, member), sizeof((type *)0)->member,    \
                 key, false)
#define SORTED_UP_TO(type, member, items, count, key)                                              \
    sorted_count(items, count, sizeof(type), offsetof(type, member), sizeof((type *)0)->member,    \
                 key, true)

static inline size_t sorted_count(const void *items, size_t count, size_t item_bytes, size_t offset,
                                  size_t member_bytes, uint64_t key, bool takes_equal)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const char *at = (const char *)items + middle * item_bytes + offset;
        uint64_t wide;
        uint32_t narrow;

        if (member_bytes == sizeof narrow)
            wide = *(const uint32_t *)memcpy(&narrow, at, sizeof narrow);
        else
            memcpy(&wide, at, sizeof wide);
        if (wide < key || (takes_equal && wide == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
