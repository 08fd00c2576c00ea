/* SPDX-License-Identifier: MIT */
/* Address ranges and holes between them; see stretches.h. */
#include "stretches.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/util/checked.h"

int stretches_add(struct stretches *list, uint64_t start, uint64_t size_bytes, bool joins,
                  struct err *err)
{
    if (ARRAY_GROW(list->items, list->capacity, list->count, err))
        return -1;
    list->items[list->count] = (struct stretch){.start = start, .joins = joins};
    if (GMT_ADD_OVERFLOWS(start, size_bytes, &list->items[list->count].end))
        list->items[list->count].end = UINT64_MAX;
    list->count++;
    return 0;
}

/* The bits in which the start addresses differ. */
static uint64_t varying_bits(const struct stretches *list)
{
    uint64_t bits = 0;
    for (size_t i = 1; i < list->count; i++)
        bits |= list->items[i].start ^ list->items[0].start;
    return bits;
}

static bool is_sorted(const struct stretches *list)
{
    for (size_t i = 1; i < list->count; i++)
        if (list->items[i].start < list->items[i - 1].start)
            return false;
    return true;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Sorts the items by one digit of the start address. The sort is stable. */
static void place_by_digit(struct stretch *to, const struct stretch *from, size_t count, int shift)
{
    size_t places[DIGITS + 1] = {0};
    for (size_t i = 0; i < count; i++)
        places[(from[i].start >> shift & (DIGITS - 1)) + 1]++;
    for (size_t digit = 1; digit < DIGITS; digit++)
        places[digit] += places[digit - 1];
    for (size_t i = 0; i < count; i++)
        to[places[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
}

/*
 * A radix sort from the lowest digit up. It is worth its code because there may be thousands of
 * failures. At each of them, tens of thousands of addresses are sorted, which differ in few digits.
 */
int stretches_sort(struct stretches *list, struct err *err)
{
    const uint64_t varying = varying_bits(list);
    struct stretch *spare;
    if (is_sorted(list))
        return 0;
    spare = array_new(list->capacity, sizeof *spare, err);
    if (!spare)
        return -1;
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        struct stretch *unsorted = list->items;

        if (!(varying >> shift & (DIGITS - 1)))
            continue;
        place_by_digit(spare, unsorted, list->count, shift);
        list->items = spare;
        spare = unsorted;
    }
    free(spare);
    return 0;
}

void stretches_join(struct stretches *list)
{
    size_t kept = 0;
    for (size_t i = 1; i < list->count; i++) {
        struct stretch *last = &list->items[kept];
        const struct stretch *next = &list->items[i];

        if (next->start <= last->end && (next->start < last->end || (last->joins && next->joins))) {
            if (next->end > last->end)
                last->end = next->end;
        } else {
            list->items[++kept] = *next;
        }
    }
    if (list->count)
        list->count = kept + 1;
}

void stretches_release(struct stretches *list)
{
    free(list->items);
    *list = (struct stretches){0};
}

static void count_hole(struct holes *holes, uint64_t bytes, uint64_t *in_stretch_bytes)
{
    *in_stretch_bytes += bytes;
    if (bytes > holes->largest_bytes)
        holes->largest_bytes = bytes;
}

struct holes holes_between(const struct stretches *held, const struct stretches *live)
{
    struct holes holes = {0};
    size_t first = 0;
    for (size_t i = 0; i < held->count; i++) {
        uint64_t at = held->items[i].start, end = held->items[i].end, free_bytes = 0;
        bool used = false;
        size_t j;

        while (first < live->count && live->items[first].end <= at)
            first++;
        for (j = first; j < live->count && live->items[j].start < end; j++) {
            used = true;
            if (live->items[j].start > at)
                count_hole(&holes, live->items[j].start - at, &free_bytes);
            if (live->items[j].end > at)
                at = live->items[j].end;
        }
        if (at < end)
            count_hole(&holes, end - at, &free_bytes);
        holes.total_bytes += free_bytes;
        holes.stranded_bytes += used ? free_bytes : 0;
    }
    return holes;
}
