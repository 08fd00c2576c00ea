/* SPDX-License-Identifier: MIT */
/* Finds the highest value since a moment; see high_water.h. */
#include "high_water.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

void high_water_release(struct high_water *water)
{
    free(water->marks);
    *water = (struct high_water){0};
}

static int add_mark(struct high_water *water, uint64_t since, uint64_t value, struct err *err)
{
    if (ARRAY_GROW(water->marks, water->capacity, water->count, err))
        return -1;
    water->marks[water->count++] = (struct high_water_mark){since, value};
    return 0;
}

/* Returns the index of the last mark that began at `moment` or before; count: there is no such
 * mark. */
static size_t mark_of(const struct high_water *water, uint64_t moment)
{
    const size_t low =
        SORTED_UP_TO(struct high_water_mark, since, water->marks, water->count, moment);
    return low ? low - 1 : water->count;
}

int high_water_begin(struct high_water *water, uint64_t moment, uint64_t value, struct err *err)
{
    if (!water->count && add_mark(water, 0, value, err))
        return -1;
    struct high_water_mark *last = &water->marks[water->count - 1];
    if (last->since == moment && moment) {
        water->count--;
        last--;
    }
    return value < last->value ? add_mark(water, moment, value, err) : 0;
}

int high_water_raise(struct high_water *water, uint64_t value, struct err *err)
{
    if (!water->count)
        return add_mark(water, 0, value, err);
    struct high_water_mark *last = &water->marks[water->count - 1];
    if (value <= last->value)
        return 0;
    while (water->count > 1 && last[-1].value <= value) {
        water->count--;
        last--;
    }
    last->value = value;
    return 0;
}

int high_water_add_since(struct high_water *water, uint64_t moment, uint64_t value, struct err *err)
{
    if (!water->count && add_mark(water, 0, 0, err))
        return -1;
    size_t first = mark_of(water, moment);
    for (size_t i = first; i < water->count; i++)
        water->marks[i].value += value;
    size_t kept = first;
    while (kept > 0 && water->marks[kept - 1].value <= water->marks[first].value)
        kept--;
    if (kept == first)
        return 0;
    water->marks[kept].value = water->marks[first].value;
    memmove(&water->marks[kept + 1], &water->marks[first + 1],
            (water->count - first - 1) * sizeof *water->marks);
    water->count -= first - kept;
    return 0;
}

uint64_t high_water_since(const struct high_water *water, uint64_t moment)
{
    size_t mark = mark_of(water, moment);
    return mark < water->count ? water->marks[mark].value : 0;
}

void high_water_forget(struct high_water *water, uint64_t moment)
{
    while (water->count > 1 && water->marks[water->count - 1].since > moment)
        water->count--;
}
