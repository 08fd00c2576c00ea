/* SPDX-License-Identifier: MIT */
/* Keeps highest, last and median of many values; see spread.h. */
#include "spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

enum { BITS_AT_FIRST = 16 };

void spread_release(struct spread *spread)
{
    free(spread->values);
    *spread = (struct spread){0};
}

/*
 * Keeps the leading bits of a value, so the result is never above it, and the order is preserved.
 */
static uint64_t round_down(uint64_t value, unsigned bits)
{
    unsigned length = 0;
    while (length < 64 && value >> length)
        length++;
    if (!bits || length <= bits)
        return value;
    return value >> (length - bits) << (length - bits);
}

/* Returns the position of the value, or the position where it would be stored. */
static size_t find_value(const struct spread *spread, uint64_t value)
{
    return SORTED_BELOW(struct spread_value, value, spread->values, spread->value_count, value);
}

static void drop_a_bit(struct spread *spread)
{
    size_t kept = 0;
    spread->bits = spread->bits ? spread->bits - 1 : BITS_AT_FIRST;
    for (size_t i = 0; i < spread->value_count; i++) {
        const struct spread_value item = {round_down(spread->values[i].value, spread->bits),
                                          spread->values[i].count};
        if (kept && spread->values[kept - 1].value == item.value)
            spread->values[kept - 1].count += item.count;
        else
            spread->values[kept++] = item;
    }
    spread->value_count = kept;
}

static int add_many(struct spread *spread, uint64_t value, uint64_t count, struct err *err)
{
    const uint64_t kept = round_down(value, spread->bits);
    const size_t at = find_value(spread, kept);
    if (at < spread->value_count && spread->values[at].value == kept) {
        spread->values[at].count += count;
        return 0;
    }
    if (ARRAY_GROW(spread->values, spread->capacity, spread->value_count, err))
        return -1;
    memmove(&spread->values[at + 1], &spread->values[at],
            (spread->value_count++ - at) * sizeof *spread->values);
    spread->values[at] = (struct spread_value){kept, count};
    while (spread->value_count > SPREAD_VALUES)
        drop_a_bit(spread);
    return 0;
}

int spread_add(struct spread *spread, uint64_t value, struct err *err)
{
    if (add_many(spread, value, 1, err))
        return -1;
    spread->count++;
    spread->last = value;
    if (value > spread->highest)
        spread->highest = value;
    return 0;
}

int spread_add_zeros_before(struct spread *spread, uint64_t count, struct err *err)
{
    if (!count)
        return 0;
    spread->count += count;
    return add_many(spread, 0, count, err);
}

uint64_t spread_median(const struct spread *spread)
{
    uint64_t before = 0;
    for (size_t i = 0; i < spread->value_count; i++) {
        before += spread->values[i].count;
        if (before >= spread->count - spread->count / 2)
            return spread->values[i].value;
    }
    return 0;
}

double spread_error_ratio(const struct spread *spread)
{
    return spread->bits ? ldexp(1, 1 - (int)spread->bits) : 0;
}
