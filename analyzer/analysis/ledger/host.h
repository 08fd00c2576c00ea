/* SPDX-License-Identifier: MIT */
/*
 * Counts how much of the host's memory pinned memory takes.
 *
 *     The driver's own pinned memory is assumed to take multiples of 2 MiB, because a block of
 *     3 MiB was measured to take 4 MiB. Therefore the distinct 2 MiB granules that live pinned
 *     memory touches are counted. Other pinned memory, such as registered memory, is counted to
 *     the byte.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_HOST_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_HOST_H

#include "analyzer/replay/history/history.h"

/* The bytes that pinned memory of the device took right after event `index`, a moment that the
 * history keeps. */
int host_pinned_taken(uint64_t *bytes, const struct history *history, const struct device_use *use,
                      uint64_t index, struct err *err);

#endif
