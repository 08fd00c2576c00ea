/* SPDX-License-Identifier: MIT */
/*
 * The host's memory: what the process and its cgroup used, by samples, and what pinned
 * memory takes.
 *
 *     taken   pinned memory of the driver takes multiples of 2 MiB (assumed, because 3 MiB were
 *             measured to take 4): the distinct 2 MiB granules that live pinned memory touches.
 *             Registered memory and the like count to the byte
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_HOST_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_HOST_H

#include "analyzer/replay/history/history.h"

#define HOST_UNKNOWN UINT64_MAX

/* A figure is HOST_UNKNOWN if no sample has it. */
struct host_use {
    size_t sample_count; /* 0: nothing is known */
    struct trace_host_sample last;
    uint64_t rss_peak_bytes, cgroup_peak_bytes; /* highest */
};

struct host_use host_use_of(const struct trace *trace);
/* True if the cgroup had used so much, at the last sample, that the kernel may have
 * killed a process. */
bool host_use_is_near_limit(const struct host_use *use);

/* The bytes that pinned memory of the device took right after event `index`, a moment that the
 * history keeps. */
int host_pinned_taken(uint64_t *bytes, const struct history *history, const struct device_use *use,
                      uint64_t index, struct err *err);

#endif
