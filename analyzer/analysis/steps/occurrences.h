/* SPDX-License-Identifier: MIT */
/*
 * The ends of steps at which something happens, such as a rise of a call stack's bytes, and whether
 * they come at a regular pace. Unlike the windows of a trend (trend.h), the distances are exact in
 * a run of any length.
 *
 *     ends     0  1  2  3  4  5  6  7  8  9
 *     occurs         x        x        x        three occurrences, every 3 ends
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Two distances are alike if they differ by one end, because an end may lie before or after what
 * the program does once per round. */
enum { OCCURRENCES_SLACK = 1 };

/* A zeroed struct has none. */
struct occurrences {
    uint64_t count, first_at, last_at; /* ends, from 0 */
    uint64_t shortest, longest;        /* distances, without the last one; 0: none */
    uint64_t last;                     /* the last distance; 0: none */
    /* The distance that may be that of most occurrences, by the vote of Boyer and Moore. */
    uint64_t usual, votes_count;
};

static inline void occurrences_add(struct occurrences *occurrences, uint64_t at)
{
    if (!occurrences->count++) {
        occurrences->first_at = occurrences->last_at = at;
        return;
    }
    if (occurrences->last) {
        occurrences->longest =
            occurrences->last > occurrences->longest ? occurrences->last : occurrences->longest;
        if (!occurrences->shortest || occurrences->last < occurrences->shortest)
            occurrences->shortest = occurrences->last;
    }
    occurrences->last = at - occurrences->last_at;
    occurrences->last_at = at;
    occurrences->usual = occurrences->votes_count ? occurrences->usual : occurrences->last;
    occurrences->votes_count += occurrences->last == occurrences->usual ? 1 : UINT64_MAX;
}

/* The distance of most occurrences; 0: there is none. At least five of eight have it, because it
 * wins as many votes more than it loses. */
static inline uint64_t occurrences_usual(const struct occurrences *occurrences)
{
    return occurrences->count > 2 && occurrences->votes_count * 4 >= occurrences->count - 1
               ? occurrences->usual
               : 0;
}

/*
 * Returns the mean distance of occurrences that come at a regular pace; 0: they do not. `before` is
 * the distance from the begin to the first occurrence. The last distance may be shorter, because
 * the end of the run may cut it (is_cut).
 */
static inline uint64_t occurrences_pace(const struct occurrences *occurrences, uint64_t before,
                                        bool is_cut)
{
    uint64_t shortest = before, longest = before;
    const uint64_t last_at = occurrences->last_at - (is_cut ? occurrences->last : 0);
    const uint64_t distances = occurrences->count - 1 - is_cut; /* that are whole */

    if (occurrences->count < 2 || !distances)
        return 0;
    if (occurrences->longest) {
        shortest = occurrences->shortest < shortest ? occurrences->shortest : shortest;
        longest = occurrences->longest > longest ? occurrences->longest : longest;
    }
    longest = occurrences->last > longest ? occurrences->last : longest;
    shortest = !is_cut && occurrences->last < shortest ? occurrences->last : shortest;
    return longest - shortest <= OCCURRENCES_SLACK
               ? (last_at - occurrences->first_at + distances / 2) / distances
               : 0;
}
