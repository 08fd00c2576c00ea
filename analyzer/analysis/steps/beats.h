/* SPDX-License-Identifier: MIT */
/*
 * The ends of steps at which something happens, such as a rise of a call stack's bytes, and whether
 * they come at a regular pace. Unlike the windows of a trend (trend.h), the distances are exact in
 * a run of any length.
 *
 *     ends     0  1  2  3  4  5  6  7  8  9
 *     beats          x        x        x        three beats, every 3 ends
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_BEATS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_BEATS_H

#include <stdbool.h>
#include <stdint.h>

/* Two distances are alike if they differ by one end, because an end may lie before or after what
 * the program does once per round. */
enum { BEATS_SLACK = 1 };

/* A zeroed struct has none. */
struct beats {
    uint64_t count, first_at, last_at; /* ends, from 0 */
    uint64_t shortest, longest;        /* distances, without the last one; 0: none */
    uint64_t last;                     /* the last distance; 0: none */
    /* The distance that may be that of most beats, by the vote of Boyer and Moore. */
    uint64_t usual, votes_count;
};

static inline void beats_add(struct beats *beats, uint64_t at)
{
    if (!beats->count++) {
        beats->first_at = beats->last_at = at;
        return;
    }
    if (beats->last) {
        beats->longest = beats->last > beats->longest ? beats->last : beats->longest;
        if (!beats->shortest || beats->last < beats->shortest)
            beats->shortest = beats->last;
    }
    beats->last = at - beats->last_at;
    beats->last_at = at;
    beats->usual = beats->votes_count ? beats->usual : beats->last;
    beats->votes_count += beats->last == beats->usual ? 1 : UINT64_MAX;
}

/* The distance of most beats; 0: there is none. At least five of eight have it, because it wins as
 * many votes more than it loses. */
static inline uint64_t beats_usual(const struct beats *beats)
{
    return beats->count > 2 && beats->votes_count * 4 >= beats->count - 1 ? beats->usual : 0;
}

/*
 * Returns the mean distance of beats that come at a regular pace; 0: they do not. `before` is the
 * distance from the begin to the first beat. The last distance may be shorter, because the end of
 * the run may cut it (is_cut).
 */
static inline uint64_t beats_pace(const struct beats *beats, uint64_t before, bool is_cut)
{
    uint64_t shortest = before, longest = before;
    const uint64_t last_at = beats->last_at - (is_cut ? beats->last : 0);
    const uint64_t distances = beats->count - 1 - is_cut; /* that are whole */

    if (beats->count < 2 || !distances)
        return 0;
    if (beats->longest) {
        shortest = beats->shortest < shortest ? beats->shortest : shortest;
        longest = beats->longest > longest ? beats->longest : longest;
    }
    longest = beats->last > longest ? beats->last : longest;
    shortest = !is_cut && beats->last < shortest ? beats->last : shortest;
    return longest - shortest <= BEATS_SLACK
               ? (last_at - beats->first_at + distances / 2) / distances
               : 0;
}

#endif
