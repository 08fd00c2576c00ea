/* SPDX-License-Identifier: MIT */
/*
 * Statistics of many values in bounded memory: count, highest, last and median. The median is exact
 * if there are few different values. If there are more, only as many leading bits of the values are
 * kept as fit.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

/* Most different values that are kept. */
#define SPREAD_VALUES 128

struct spread_value {
    uint64_t value, count;
};

/* A zeroed struct is empty and ready for use. */
struct spread {
    uint64_t count, highest, last;
    struct spread_value *values; /* ascending */
    size_t value_count, capacity;
    unsigned bits; /* leading bits kept of each value; 0: all */
};

void spread_release(struct spread *spread);

int spread_add(struct spread *spread, uint64_t value, struct err *err);
/* Counts `count` zeros as if they had been added first. */
int spread_add_zeros_before(struct spread *spread, uint64_t count, struct err *err);

/*
 * Returns the median. For an even count this is the lower of the two middle values, and without
 * values it is 0. The result may be too low by at most the share spread_error_ratio.
 */
uint64_t spread_median(const struct spread *spread);
double spread_error_ratio(const struct spread *spread);
