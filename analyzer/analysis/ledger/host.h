/* SPDX-License-Identifier: MIT */
/*
 * Counts how much of the host's memory pinned memory takes.
 *
 *     The driver's own pinned memory is assumed to take multiples of 2 MiB, because a block of
 *     3 MiB was measured to take 4 MiB. Therefore the distinct 2 MiB granules that live pinned
 *     memory touches are counted. Other pinned memory, such as registered memory, is counted to
 *     the byte.
 */
#pragma once

#include "analyzer/analysis/study.h"

/* The bytes that pinned memory of the device took right after event `index`, a moment that the
 * history keeps. */
int host_pinned_taken(uint64_t *bytes, const struct history *history, const struct device_use *use,
                      uint64_t index, struct err *err);

/*
 * Blocks of PyTorch's caching allocator for the host. It rounds each request up to a power
 * of two, and requests only the rounded size, so the trace does not have the tensors' sizes.
 */
struct host_rounded {
    uint64_t bytes;  /* of these blocks */
    bool are_powers; /* there are some, and the size of each is a power of two */
};

/* Finds the blocks of the account that were live right after event `index`. */
int host_rounded_find(struct host_rounded *rounded, const struct study *study, uint32_t account,
                      uint64_t index, struct err *err);
