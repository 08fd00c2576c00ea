/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow, sorting, and search in sorted arrays. The caller keeps pointer, count and
 * capacity in its own struct, and reads the items directly.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/err.h"

/*
 * Makes room for at least one more item than count, by doubling, and updates the pointer to the
 * items. New items are not cleared. Returns 0; or -1: out of memory (*err says so), and nothing has
 * changed.
 */
#define ARRAY_GROW(items, capacity, count, err)                                                    \
    array_grow(&(items), &(capacity), count, sizeof *(items), err)

/*
 * Makes sure that items[number] exists: clears all new items up to it, and sets count above it.
 * Returns the same as ARRAY_GROW.
 */
#define ARRAY_REACH(items, capacity, count, number, err)                                           \
    array_reach(&(items), &(capacity), &(count), sizeof *(items), number, err)

/* The slow paths, which are taken when the array is full, or when the item does not exist yet. */
int array_double(void *pointer, size_t *capacity, size_t count, size_t item_bytes, struct err *err);
int array_extend(void *pointer, size_t *capacity, size_t *count, size_t item_bytes, size_t number,
                 struct err *err);

/* Returns the items that a variable points to. The variable is a pointer of any type, so it is
 * copied. */
static inline void *array_items(const void *pointer)
{
    void *items;
    memcpy(&items, pointer, sizeof items);
    return items;
}

/* Does the work of ARRAY_GROW, for items whose size is known only at run time. `pointer` is the
 * address of the pointer to the items. */
static inline int array_grow(void *pointer, size_t *capacity, size_t count, size_t item_bytes,
                             struct err *err)
{
    return count < *capacity && array_items(pointer)
               ? 0
               : array_double(pointer, capacity, count, item_bytes, err);
}

static inline int array_reach(void *pointer, size_t *capacity, size_t *count, size_t item_bytes,
                              size_t number, struct err *err)
{
    return number < *count ? 0 : array_extend(pointer, capacity, count, item_bytes, number, err);
}

/* Returns a cleared array; count may be 0. NULL: out of memory, *err says so. */
void *array_new(size_t count, size_t item_bytes, struct err *err);

/* --- sorting --- */

/* Sorts an array, which may be NULL if it is empty. */
#define SORT(items, count, order) sort_items(items, count, sizeof *(items), order)

static inline void sort_items(void *items, size_t count, size_t item_bytes,
                              int (*order)(const void *left, const void *right))
{
    if (count)
        qsort(items, count, item_bytes, order);
}

/*
 * Orders to sort by. Two items are ordered by the first key in which they differ:
 *
 *     ORDER_BY(compare_sites, struct site, FALLING(bytes), RISING(site_id));
 *
 * defines compare_sites, which puts the largest site first and orders sites of equal size by their
 * ids. A key is RISING or FALLING, or an int expression of the items a and b that is below 0 if a
 * comes first, as strcmp(a->name, b->name). There are at most five keys. A later key is computed
 * only if the earlier ones are equal.
 */
#define ORDER(left, right) (((left) > (right)) - ((left) < (right)))

/* By a member. */
#define RISING(member) ORDER(a->member, b->member)
#define FALLING(member) ORDER(b->member, a->member)

/* By what a function returns for an item. */
#define RISING_IN(function) ORDER(function(a), function(b))
#define FALLING_IN(function) ORDER(function(b), function(a))

/* The first key that is not 0. */
#define ORDER_KEYS(one, two, three, four, five, ...)                                               \
    ((order = (one)) || (order = (two)) || (order = (three)) || (order = (four)) ||                \
             (order = (five))                                                                      \
         ? order                                                                                   \
         : 0)

#define ORDER_BY(name, type, ...)                                                                  \
    static int name(const void *left, const void *right)                                           \
    {                                                                                              \
        const type *a = left, *b = right;                                                          \
        int order;                                                                                 \
        return ORDER_KEYS(__VA_ARGS__, 0, 0, 0, 0, 0);                                             \
    }                                                                                              \
    _Static_assert(sizeof(type) > 0, "the type of the items")

/* The items are pointers to `type`. */
#define ORDER_POINTERS_BY(name, type, ...)                                                         \
    static int name(const void *left, const void *right)                                           \
    {                                                                                              \
        const type *a = *(const type *const *)left, *b = *(const type *const *)right;              \
        int order;                                                                                 \
        return ORDER_KEYS(__VA_ARGS__, 0, 0, 0, 0, 0);                                             \
    }                                                                                              \
    _Static_assert(sizeof(type) > 0, "the type of the items")

/* --- search in arrays that are sorted by an unsigned member of their items --- */

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
