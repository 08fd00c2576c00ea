/* SPDX-License-Identifier: MIT */
/*
 * What pinned memory takes of the host's memory.
 *
 *     taken   pinned memory of the driver takes multiples of 2 MiB (assumed, because 3 MiB were
 *             measured to take 4): the distinct 2 MiB granules that live pinned memory touches.
 *             Registered memory and the like count to the byte
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_HOST_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_HOST_H

#include "analyzer/replay/history/history.h"

/* The bytes that pinned memory of the device took right after event `index`, a moment that the
 * history keeps. */
int host_pinned_taken(uint64_t *bytes, const struct history *history, const struct device_use *use,
                      uint64_t index, struct err *err);

#endif
