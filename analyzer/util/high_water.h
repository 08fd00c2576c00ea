/* SPDX-License-Identifier: MIT */
/*
 * Finds the highest value since any earlier moment, for a value that rises and falls. Moments are
 * numbers that never decrease.
 *
 *     value ──┐    ┌─┐          mark: highest value from a moment until now. A rise merges marks
 *             └──┐ │ └──┐       that become equal; only a fall adds a mark.
 *                └─┘    └──
 *     mark    1    2    3
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct high_water_mark {
    uint64_t since; /* the first moment for which the value holds */
    uint64_t value;
};

/* A zeroed struct is empty: the value was 0 at every moment. */
struct high_water {
    struct high_water_mark *marks; /* ascending since, descending value */
    size_t count, capacity;
};

void high_water_release(struct high_water *water);

/* From `moment` on the value is `value`, which must not be above the last value. */
int high_water_begin(struct high_water *water, uint64_t moment, uint64_t value, struct err *err);
/* The value has risen to `value`. */
int high_water_raise(struct high_water *water, uint64_t value, struct err *err);
/* Adds `value` to the whole time from `moment` on, because these bytes were there but were not
 * counted. */
int high_water_add_since(struct high_water *water, uint64_t moment, uint64_t value,
                         struct err *err);
/* Returns the highest value from `moment` until now. O(log n). */
uint64_t high_water_since(const struct high_water *water, uint64_t moment);
/* Forgets all windows that began after `moment`. */
void high_water_forget(struct high_water *water, uint64_t moment);
