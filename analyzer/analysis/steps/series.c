/* SPDX-License-Identifier: MIT */
/* Series of bytes and the line through them; see series.h. */
#include "series.h"

#include <math.h>

void series_extend(struct series *series, uint64_t from, uint64_t until, uint64_t bytes)
{
    uint64_t next, last;

    if (from < series->open_until && bytes < series->open_least)
        series->open_least = bytes;
    series_close(series);
    if (!series->window)
        series->window = 1;
    next = series->open_until / series->window;
    while ((last = (until - 1) / series->window) >= SERIES_SAMPLES) {
        while (next < SERIES_SAMPLES)
            series->samples[next++] = bytes;
        series_join(series, 2, series->samples);
        next /= 2;
    }
    while (next < last)
        series->samples[next++] = bytes;
    series->open_until = (last + 1) * series->window;
    series->open_least = bytes;
}

void series_join(struct series *series, uint64_t by, uint64_t samples[SERIES_SAMPLES])
{
    for (size_t i = 0; i < SERIES_SAMPLES; i++) {
        uint64_t least = UINT64_MAX;
        for (uint64_t j = i * by; j < (i + 1) * by && j < SERIES_SAMPLES; j++)
            if (series->samples[j] < least)
                least = series->samples[j];
        samples[i] = least;
    }
    series->samples = samples;
    series->window *= by;
}

/* --- the line --- */

enum { PAIRS_MAX = SERIES_SAMPLES * (SERIES_SAMPLES - 1) / 2 };

/* The value that has n values before it when they are sorted. It moves them, by Hoare's FIND. */
static double nth(double *values, size_t count, size_t n)
{
    const ptrdiff_t place = (ptrdiff_t)n;
    ptrdiff_t first = 0, last = (ptrdiff_t)count - 1;

    while (first < last) {
        const double pivot = values[place];
        ptrdiff_t i = first, j = last;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (pivot < values[j])
                j--;
            if (i > j)
                break;
            const double high = values[i];
            values[i++] = values[j];
            values[j--] = high;
        }
        if (j < place)
            first = i;
        if (place < i)
            last = j;
    }
    return values[place];
}

static size_t find_slopes(const struct series *series, size_t first, size_t last,
                          double slopes[PAIRS_MAX])
{
    size_t count = 0;

    for (size_t i = first; i < last; i++)
        for (size_t j = i + 1; j < last; j++)
            slopes[count++] = ((double)series->samples[j] - (double)series->samples[i]) /
                              ((double)(j - i) * (double)series->window);
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

    return (struct series_line){
        .slope = (nth(slopes, pairs, (pairs - 1) / 2) + nth(slopes, pairs, pairs / 2)) / 2,
        .low = nth(slopes, pairs, beyond),
        .high = nth(slopes, pairs, pairs - 1 - beyond)};
}
