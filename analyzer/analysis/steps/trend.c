/* SPDX-License-Identifier: MIT */
/* Trends of bytes, and the line through them; see trend.h. */
#include "trend.h"

#include <math.h>

void trend_extend(struct trend *trend, uint64_t from, uint64_t until, uint64_t bytes)
{
    uint64_t next, last;
    if (from < trend->open_until && bytes < trend->open_least)
        trend->open_least = bytes;
    trend_close(trend);
    if (!trend->window)
        trend->window = 1;
    next = trend->open_until / trend->window;
    while ((last = (until - 1) / trend->window) >= TREND_SAMPLES) {
        while (next < TREND_SAMPLES)
            trend->samples[next++] = bytes;
        trend_join(trend, 2, trend->samples);
        next /= 2;
    }
    while (next < last)
        trend->samples[next++] = bytes;
    trend->open_until = (last + 1) * trend->window;
    trend->open_least = bytes;
}

void trend_join(struct trend *trend, uint64_t by, uint64_t samples[TREND_SAMPLES])
{
    for (size_t i = 0; i < TREND_SAMPLES; i++) {
        uint64_t least = UINT64_MAX;
        for (uint64_t j = i * by; j < (i + 1) * by && j < TREND_SAMPLES; j++)
            if (trend->samples[j] < least)
                least = trend->samples[j];
        samples[i] = least;
    }
    trend->samples = samples;
    trend->window *= by;
}

/* --- the line --- */

enum { PAIRS_MAX = TREND_SAMPLES * (TREND_SAMPLES - 1) / 2 };

/* The value at place n in sorted order, by Hoare's FIND, which reorders the values. */
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

static size_t find_slopes(const struct trend *trend, size_t first, size_t last,
                          double slopes[PAIRS_MAX])
{
    size_t count = 0;
    for (size_t i = first; i < last; i++)
        for (size_t j = i + 1; j < last; j++)
            slopes[count++] = ((double)trend->samples[j] - (double)trend->samples[i]) /
                              ((double)(j - i) * (double)trend->window);
    return count;
}

/* The number of slopes that lie beyond each bound. */
static size_t beyond_bound(size_t samples, size_t pairs)
{
    static const double sigmas = 1.96; /* 95 % of the normal distribution */
    const double n = (double)samples;
    const double width = sigmas * sqrt(n * (n - 1) * (2 * n + 5) / 18);
    return width >= (double)pairs ? 0 : (size_t)(((double)pairs - width) / 2);
}

bool trend_rises(const struct trend *trend, size_t first, size_t last)
{
    const size_t samples = last - first;
    const size_t beyond = beyond_bound(samples, samples * (samples - 1) / 2);
    size_t falling = 0;
    for (size_t i = first; i < last; i++)
        for (size_t j = i + 1; j < last; j++)
            falling += trend->samples[j] <= trend->samples[i];
    return falling <= beyond;
}

struct trend_line trend_fit(const struct trend *trend, size_t first, size_t last)
{
    double slopes[PAIRS_MAX] = {0};
    const size_t pairs = find_slopes(trend, first, last, slopes);
    const size_t beyond = beyond_bound(last - first, pairs);
    return (struct trend_line){
        .slope = (nth(slopes, pairs, (pairs - 1) / 2) + nth(slopes, pairs, pairs / 2)) / 2,
        .low = nth(slopes, pairs, beyond),
        .high = nth(slopes, pairs, pairs - 1 - beyond)};
}
