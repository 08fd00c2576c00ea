/* SPDX-License-Identifier: MIT */
/* The fewest live blocks in windows of births; see ebb.h. */
#include "ebb.h"

#include "analyzer/thresholds/thresholds.h"

void ebb_birth(struct ebb *ebb, uint64_t live_count)
{
    ebb->window = ebb->window ? ebb->window : 1;
    if (ebb->births_count == EBB_WINDOWS * ebb->window) {
        for (int i = 0; i < EBB_WINDOWS / 2; i++) {
            const uint64_t one = ebb->least[2 * i], other = ebb->least[2 * i + 1];
            ebb->least[i] = one < other ? one : other;
        }
        ebb->window *= 2;
    }
    uint64_t *least = &ebb->least[ebb->births_count / ebb->window];
    if (ebb->births_count % ebb->window == 0 || live_count < *least)
        *least = live_count;
    ebb->births_count++;
}

bool ebb_rises(const struct ebb *ebb)
{
    const uint64_t windows = ebb->window ? ebb->births_count / ebb->window : 0;
    uint64_t rises = 0;
    if (windows < EBB_WINDOWS / 2)
        return false;
    for (uint64_t i = 1; i < windows; i++)
        rises += ebb->least[i] > ebb->least[i - 1];
    const uint64_t half = windows / 2, late = (windows - 1) * 3 / 4;
    const uint64_t first = ebb->least[0], middle = ebb->least[half], last = ebb->least[windows - 1];
    const bool frees_early = middle <= first + half * ebb->window * 3 / 4;
    return rises * 2 >= windows - 1 && frees_early && last > ebb->least[late] && last > first &&
           (last - ebb->least[late]) * LATE_DIVISOR >= last - first;
}
