/* SPDX-License-Identifier: MIT */
/*
 * A trend: live bytes of end after end in bounded memory, and the line through them. A trend of any length is
 * cut into at most TREND_SAMPLES windows of equal length, a power of two; of each it keeps the
 * least. It must not know what the bytes are, nor when they are taken.
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

/* Zeroed is empty; it needs samples before the first end is added. */
struct trend {
    uint64_t *samples;   /* TREND_SAMPLES; the owner's */
    uint64_t window;     /* ends in one window; 0: none was added */
    uint64_t open_until; /* the end before which the last window ends */
    uint64_t open_least; /* the sample of that window, until trend_close() writes it */
};

/* As trend_add behind the last window. */
void trend_extend(struct trend *trend, uint64_t from, uint64_t until, uint64_t bytes);

/* The bytes at the ends from `from`, where the last call stopped, up to before `until`. */
static inline void trend_add(struct trend *trend, uint64_t from, uint64_t until, uint64_t bytes)
{
    if (until > trend->open_until)
        trend_extend(trend, from, until, bytes);
    else if (bytes < trend->open_least)
        trend->open_least = bytes;
}

/* To be called before samples are read. */
static inline void trend_close(struct trend *trend)
{
    if (trend->window)
        trend->samples[trend->open_until / trend->window - 1] = trend->open_least;
}

/*
 * Joins each `by` windows into one, so that a window is at least as long as what repeats. The
 * joined ones are written to `samples`, which are the trend's own from now on.
 */
void trend_join(struct trend *trend, uint64_t by, uint64_t samples[TREND_SAMPLES]);

/*
 * The line through samples[first] … samples[last - 1], after Theil and Sen: the median of the
 * slopes of all pairs, in bytes per end; low and high bound it with 95 % confidence (from Kendall's
 * tau; for the few samples where that says nothing, the lowest and the highest slope). At least
 * two samples.
 */
struct trend_line {
    double slope, low, high;
};
/* Whether low is above 0, without the line. */
bool trend_rises(const struct trend *trend, size_t first, size_t last);
struct trend_line trend_fit(const struct trend *trend, size_t first, size_t last);

#endif
