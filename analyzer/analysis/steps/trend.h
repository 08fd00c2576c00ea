/* SPDX-License-Identifier: MIT */
/*
 * A trend: the live bytes at successive ends, in bounded memory, and the line through them. A trend
 * of any length is cut into at most TREND_SAMPLES windows of equal length, a power of two; it keeps
 * the lowest value of each.
 *
 *     ends      0 1 2 3 4 5 6 7 8 …       windows of 2:  |0 1|2 3|4 5|6 7|  the last one is left
 *     bytes     5 9 5 5 6 9 7 7 9 …       samples:         5   5   6   7    out until it is whole
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_TREND_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREND_SAMPLES = 64 };

/* Zeroed is empty; samples must be set before the first end is added. */
struct trend {
    uint64_t *samples;   /* TREND_SAMPLES values; owned by the caller */
    uint64_t window;     /* ends per window; 0: no end yet */
    uint64_t open_until; /* end of the last window */
    uint64_t open_least; /* lowest value of the last window, until trend_close() writes it */
};

/* Like trend_add, for ends beyond the last window. */
void trend_extend(struct trend *trend, uint64_t from, uint64_t until, uint64_t bytes);

/* Adds the same bytes for the ends from `from`, where the last call stopped, to before `until`. */
static inline void trend_add(struct trend *trend, uint64_t from, uint64_t until, uint64_t bytes)
{
    if (until > trend->open_until)
        trend_extend(trend, from, until, bytes);
    else if (bytes < trend->open_least)
        trend->open_least = bytes;
}

/* To be called before the samples are read. */
static inline void trend_close(struct trend *trend)
{
    if (trend->window)
        trend->samples[trend->open_until / trend->window - 1] = trend->open_least;
}

/*
 * Joins each `by` windows into one, so that a window is at least as long as a period. Writes the
 * joined ones to `samples`, which then belong to the trend.
 */
void trend_join(struct trend *trend, uint64_t by, uint64_t samples[TREND_SAMPLES]);

/*
 * The line through samples[first] … samples[last - 1], after Theil and Sen: the median
 * of the slopes of all pairs, in bytes per end. low and high bound it with 95 %
 * confidence (from Kendall's tau; if there are too few samples for that, they are the
 * lowest and the highest slope). At least two samples.
 */
struct trend_line {
    double slope, low, high;
};
/* True if low is above 0; does not compute the line. */
bool trend_rises(const struct trend *trend, size_t first, size_t last);
struct trend_line trend_fit(const struct trend *trend, size_t first, size_t last);

#endif
