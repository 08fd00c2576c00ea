/* SPDX-License-Identifier: MIT */
/* Splits a series at its collapses; see teeth.h. */
#include "teeth.h"

enum {
    FEWEST_RISES = 3, /* of a tooth: two rises may be two batches of different lengths */
    LENGTH_SLACK = 2, /* samples: the first step is not counted, and a window may be cut anywhere */
    OVER_TIMES = 2,   /* Python's collector waits longer the more objects survive, but not much */
};

/* The tooth that is being read. */
struct tooth {
    size_t first, last, rises;
    uint64_t base_bytes, top_bytes;
};

static bool is_whole(const struct tooth *tooth)
{
    return tooth->rises >= FEWEST_RISES && tooth->rises * 2 >= tooth->last - tooth->first;
}

/* Adds the tooth to the rises and intervals of all, from which the slope is computed. */
static void fit(struct teeth *teeth, const struct tooth *tooth, double *risen, double *intervals)
{
    const uint64_t height_bytes = tooth->top_bytes - tooth->base_bytes;
    const double slope = (double)height_bytes / (double)(tooth->last - tooth->first);

    teeth->low = !*intervals || slope < teeth->low ? slope : teeth->low;
    teeth->high = slope > teeth->high ? slope : teeth->high;
    *risen += (double)height_bytes;
    *intervals += (double)(tooth->last - tooth->first);
    teeth->slope = *risen / *intervals;
    if (height_bytes > teeth->height_bytes)
        teeth->height_bytes = height_bytes;
}

static void close_tooth(struct teeth *teeth, const struct tooth *tooth, size_t next)
{
    const size_t length = next - tooth->first;

    if (teeth->count)
        teeth->between += length;
    teeth->shortest = !teeth->count || length < teeth->shortest ? length : teeth->shortest;
    teeth->longest = length > teeth->longest ? length : teeth->longest;
    teeth->collapsed_at = next;
    teeth->count++;
}

struct teeth teeth_find(const uint64_t *samples, size_t count)
{
    struct teeth teeth = {0};
    struct tooth tooth = {.base_bytes = count ? samples[0] : 0,
                          .top_bytes = count ? samples[0] : 0};
    double risen = 0, intervals = 0;

    for (size_t i = 1; i < count; i++) {
        if (samples[i] >= tooth.top_bytes) {
            tooth.rises += samples[i] > tooth.top_bytes;
            tooth.top_bytes = samples[i];
            tooth.last = i;
            continue;
        }
        const uint64_t height_bytes = tooth.top_bytes - tooth.base_bytes;
        if (!is_whole(&tooth) || (tooth.top_bytes - samples[i]) * 2 < height_bytes)
            return (struct teeth){0};
        fit(&teeth, &tooth, &risen, &intervals);
        close_tooth(&teeth, &tooth, i);
        tooth = (struct tooth){i, i, 0, samples[i], samples[i]};
    }
    if (teeth.count && is_whole(&tooth))
        fit(&teeth, &tooth, &risen, &intervals);
    teeth.is_over = teeth.count && count - tooth.first > OVER_TIMES * teeth.longest;
    return teeth;
}

bool teeth_are_equal(const struct teeth *teeth)
{
    return teeth->count >= 2 && teeth->longest - teeth->shortest <= LENGTH_SLACK;
}
