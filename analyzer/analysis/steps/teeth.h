/* SPDX-License-Identifier: MIT */
/*
 * Splits a series of live bytes where it collapses. A tooth is the part between two collapses; it
 * never falls, and rises in at least half of its intervals. A collapse frees at least half of a
 * tooth's height at once.
 *
 *     bytes     1 2 3 4 0 1 2 3 4 0 1 2      two closed teeth of five samples, and an open one
 *     collapse          x         x
 *
 * Python's collector makes teeth of tensors in reference cycles. A buffer that is written out when
 * it is full makes teeth of equal lengths.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_TEETH_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_TEETH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct teeth {
    size_t count;             /* closed teeth; 0: the series is no saw */
    size_t shortest, longest; /* samples of the closed teeth */
    size_t collapsed_at;      /* the sample after the last collapse */
    size_t between;           /* samples between the first and the last collapse */
    double slope, low, high;  /* rise per sample: of all teeth together, least and most of one */
    uint64_t height_bytes;    /* of the highest tooth */
    bool is_over;             /* the open tooth is much longer than any closed one */
};

struct teeth teeth_find(const uint64_t *samples, size_t count);

/* True if the teeth have equal lengths, so that something frees them every `between` / (count - 1)
 * samples. */
bool teeth_are_equal(const struct teeth *teeth);

#endif
