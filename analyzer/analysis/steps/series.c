/* SPDX-License-Identifier: MIT */
/* Series of bytes and the line through them; see series.h. */
#include "series.h"

#include <math.h>
#include <stdlib.h>

static void join_windows(struct series *series, uint64_t by)
{
    for (size_t i = 0; i < SERIES_SAMPLES; i++) {
        uint64_t least = UINT64_MAX;
        for (size_t j = (size_t)(i * by); j < (i + 1) * by && j < SERIES_SAMPLES; j++)
            if (series->samples[j] < least)
                least = series->samples[j];
        series->samples[i] = least;
    }
    series->window *= by;
}

static void begin(struct series *series)
{
    series->window = 1;
    for (size_t i = 0; i < SERIES_SAMPLES; i++)
        series->samples[i] = UINT64_MAX;
}

void series_add(struct series *series, uint64_t until, uint64_t bytes)
{
    if (until <= series->count)
        return;
    if (!series->window)
        begin(series);
    for (; (until - 1) >> series->shift >= SERIES_SAMPLES; series->shift++)
        join_windows(series, 2);
    const uint64_t last = (until - 1) >> series->shift;
    for (uint64_t i = series->count >> series->shift; i <= last; i++)
        if (bytes < series->samples[i])
            series->samples[i] = bytes;
    series->count = until;
}

size_t series_length(const struct series *series)
{
    return series->window ? (size_t)(series->count / series->window) : 0;
}

void series_join(struct series *series, uint64_t by)
{
    if (by > 1 && series->window)
        join_windows(series, by > SERIES_SAMPLES ? SERIES_SAMPLES + 1 : by);
}

/* --- the line --- */

enum { PAIRS_MAX = SERIES_SAMPLES * (SERIES_SAMPLES - 1) / 2 };

static int compare_slopes(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static size_t find_slopes(const struct series *series, size_t first, size_t last,
                          double slopes[PAIRS_MAX])
{
    size_t count = 0;

    for (size_t i = first; i < last; i++)
        for (size_t j = i + 1; j < last; j++)
            slopes[count++] = ((double)series->samples[j] - (double)series->samples[i]) /
                              ((double)(j - i) * (double)series->window);
    qsort(slopes, count, sizeof *slopes, compare_slopes);
    return count;
}

/* How many of the slopes lie beyond each bound. */
static size_t beyond_bound(size_t samples, size_t pairs)
{
    static const double sigmas = 1.96; /* of the normal distribution, for 95 % */
    const double n = (double)samples;
    const double width = sigmas * sqrt(n * (n - 1) * (2 * n + 5) / 18);

    return width >= (double)pairs ? 0 : (size_t)(((double)pairs - width) / 2);
}

bool series_rises(const struct series *series, size_t first, size_t last)
{
    const size_t samples = last - first;
    const size_t beyond = beyond_bound(samples, samples * (samples - 1) / 2);
    size_t falling = 0;

    for (size_t i = first; i < last; i++)
        for (size_t j = i + 1; j < last; j++)
            falling += series->samples[j] <= series->samples[i];
    return falling <= beyond;
}

struct series_line series_fit(const struct series *series, size_t first, size_t last)
{
    double slopes[PAIRS_MAX] = {0};
    const size_t pairs = find_slopes(series, first, last, slopes);
    const size_t beyond = beyond_bound(last - first, pairs);

    return (struct series_line){.slope = (slopes[(pairs - 1) / 2] + slopes[pairs / 2]) / 2,
                                .low = slopes[beyond],
                                .high = slopes[pairs - 1 - beyond]};
}
