/* SPDX-License-Identifier: MIT */
/*
 * The devices of one process beside each other, as DataParallel fills them: the first gathers outputs and gradients.
 * It must not know ranks, nor who holds what one device has more.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_BALANCE_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_BALANCE_H

#include "analyzer/replay/history/history.h"

/* Peaks that differ by less are alike, of devices as of ranks. */
#define PEAKS_ALIKE_RATIO 1.02

/* By the peaks of leading layers. */
struct balance {
    size_t used_count; /* devices with memory; with fewer than two of them the rest means nothing */
    int highest, middle; /* middle: the median of the others */
    uint64_t highest_bytes, middle_bytes;
    double ratio; /* the highest peak over their mean */
};

int balance_find(struct balance *balance, const struct history *history, struct err *err);

/* Whether the highest stands out. */
static inline bool balance_is_apart(const struct balance *balance)
{
    return balance->used_count > 1 &&
           (double)balance->highest_bytes > (double)balance->middle_bytes * PEAKS_ALIKE_RATIO;
}

#endif
