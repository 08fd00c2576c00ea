/* SPDX-License-Identifier: MIT */
/*
 * Tells whether the requests of one place, or of one call stack, grow from one to the next, from
 * their sizes alone. A buffer that is copied to make room asks for more each time. A smaller batch
 * only delays its failure.
 *
 *     470  940  1410  1880  2350                 grows: each is larger, by as much as the others
 *     512  256   128  512  256                   does not: a size fell
 *     1  2  4  8  1  2  4  8                     does not: an earlier run was as long
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_RISING_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_RISING_H

#include <stdbool.h>
#include <stdint.h>

/* Requests in order, none of them smaller than the one before. A zeroed struct has none. Equal
 * sizes belong to the run, because the layers of a model may ask at the same place. */
struct rising {
    uint64_t first_bytes, last_bytes;
    uint64_t least_rise_bytes, most_rise_bytes;
    uint32_t rises_count;         /* requests that were larger than the one before */
    uint32_t earlier_rises_count; /* the most rises of a run that ended */
    uint32_t falls_count;         /* runs that ended */
};

void rising_add(struct rising *rising, uint64_t size_bytes);

/* True if the requests of the run grew so often that they will go on to grow. */
bool rising_goes_on(const struct rising *rising);
/* True if these requests are all, nothing of them was freed, each was larger than the one before,
 * and they will go on to grow. */
bool rising_is_kept(const struct rising *rising, uint64_t births_count, uint64_t frees_count);
/* True if all requests grew by about the same number of bytes. */
bool rising_is_even(const struct rising *rising);

#endif
