/* SPDX-License-Identifier: MIT */
/*
 * Compares the peaks of one process's devices, because DataParallel fills them unevenly: the first
 * device gathers outputs and gradients.
 */
#pragma once

#include "analyzer/replay/history/history.h"
#include "analyzer/thresholds/thresholds.h"

/* Compares the peaks of the devices' leading accounts. */
struct balance {
    size_t used_count;   /* devices with memory; below 2 the other fields are invalid */
    int highest, middle; /* device numbers; middle: the one with the median peak of the others */
    uint64_t highest_bytes, middle_bytes;
    double ratio; /* the highest peak divided by the mean of all peaks */
};

int balance_find(struct balance *balance, const struct history *history, struct err *err);

/* True if the highest peak is not alike to the median of the others. */
static inline bool balance_is_apart(const struct balance *balance)
{
    return balance->used_count > 1 &&
           (double)balance->highest_bytes > (double)balance->middle_bytes * PEAKS_ALIKE_RATIO;
}
