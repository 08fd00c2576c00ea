/* SPDX-License-Identifier: MIT */
/*
 * The highest value since any earlier moment, while a value rises and falls. Moments are numbers
 * that never decrease. It must not know what the value is.
 *
 *     value ──┐    ┌─┐          marks: from each moment on, the highest value until now; equal
 *             └──┐ │ └──┐       neighbours are one mark, so rising merges marks and only falling
 *                └─┘    └──     adds any
 *     mark    1    2    3
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_HIGH_WATER_H
#define GPUMEMTRACE_ANALYZER_UTIL_HIGH_WATER_H

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct high_water_mark {
    uint64_t since; /* the first moment it holds for */
    uint64_t value;
};

/* Zeroed is empty: the value was 0 at every moment. */
struct high_water {
    struct high_water_mark *marks; /* ascending since, descending value */
    size_t count, capacity;
};

void high_water_release(struct high_water *water);

/* From `moment` on windows begin at `value`, which is not above the one before. */
int high_water_begin(struct high_water *water, uint64_t moment, uint64_t value, struct err *err);
/* The value is now so high. */
int high_water_raise(struct high_water *water, uint64_t value, struct err *err);
/* What was always there from `moment` on was not counted: adds it. */
int high_water_add_since(struct high_water *water, uint64_t moment, uint64_t value,
                         struct err *err);
/* The highest value from `moment` until now. O(log n). */
uint64_t high_water_since(const struct high_water *water, uint64_t moment);
/* Of the moments that have begun nobody asks for one after `moment`. */
void high_water_forget(struct high_water *water, uint64_t moment);

#endif
