/* SPDX-License-Identifier: MIT */
/*
 * The host's memory beside the card's: what the process and its cgroup used, by samples, and what
 * pinned memory really takes. It must not know how this is shown.
 *
 *     taken   what is pinned by the driver lies in pieces of 2 MiB (assumed: 3 MiB were measured to take
 *             4): the distinct pieces that live pinned memory touches; registered memory and the
 *             like to the byte
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
/* Whether the cgroup had used, at the last sample, so much that the kernel may have killed for it. */
bool host_use_is_near_limit(const struct host_use *use);

/* What pinned memory of the device took right after event `index`, when it was live_bytes. */
int host_pinned_taken(uint64_t *bytes, const struct history *history, const struct device_use *use,
                      uint64_t index, struct err *err);

#endif
