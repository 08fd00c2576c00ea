/* SPDX-License-Identifier: MIT */
/*
 * How values are spread: their number, the highest, the last and the median, in bounded memory. While few
 * different values were seen the median is exact; of more, only their leading bits are kept, as many
 * as memory allows. It must not know what a value is.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_SPREAD_H
#define GPUMEMTRACE_ANALYZER_UTIL_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

/* The most different values that are kept. */
#define SPREAD_VALUES 128

struct spread_value {
    uint64_t value, count;
};

/* Zeroed is empty and ready for use. */
struct spread {
    uint64_t count, highest, last;
    struct spread_value *values; /* ascending */
    size_t value_count, capacity;
    unsigned bits; /* that are kept of a value; 0: all */
};

void spread_release(struct spread *spread);

int spread_add(struct spread *spread, uint64_t value, struct err *err);
/* So many zeros came before all that was added. */
int spread_add_zeros_before(struct spread *spread, uint64_t count, struct err *err);

/* Of an even number the lower of the two in the middle; of none 0. At most spread_error_ratio of
 * itself too low. */
uint64_t spread_median(const struct spread *spread);
double spread_error_ratio(const struct spread *spread);

#endif
