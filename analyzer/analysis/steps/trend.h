/* SPDX-License-Identifier: MIT */
/*
 * A trend: the live bytes at successive ends of steps, in bounded memory, and the straight line
 * through them. A trend of any length is cut into at most TREND_SAMPLES windows of equal length,
 * which is a power of two. It keeps the lowest value of each window.
 *
 *     ends      0 1 2 3 4 5 6 7 8 …       windows of 2:  |0 1|2 3|4 5|6 7|  the last one is left
 *     bytes     5 9 5 5 6 9 7 7 9 …       samples:         5   5   6   7    out until it is whole
 */
#pragma once

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

/* Does what trend_add does, for ends beyond the last window. */
void trend_extend(struct trend *trend, uint64_t from, uint64_t until, uint64_t bytes);

/* Adds the value `bytes` for each end from `from` to before `until`. `from` must be the `until` of
 * the last call. */
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
 * joined windows to `samples`, which the trend uses from then on.
 */
void trend_join(struct trend *trend, uint64_t by, uint64_t samples[TREND_SAMPLES]);

/*
 * The line through samples[first] … samples[last - 1], by the method of Theil and Sen. Its slope is
 * the median of the slopes of all pairs of samples, in bytes per end. low and high bound the slope
 * with 95 % confidence, from Kendall's tau. If there are too few samples for that, they are the
 * lowest and the highest slope. At least two samples are needed.
 */
struct trend_line {
    double slope, low, high;
};
/* True if low is above 0; does not compute the line. */
bool trend_rises(const struct trend *trend, size_t first, size_t last);
struct trend_line trend_fit(const struct trend *trend, size_t first, size_t last);
