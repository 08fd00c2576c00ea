/* SPDX-License-Identifier: MIT */
/*
 * Reads the durations of hooked calls from the table call_duration, one row at a time, and keeps
 * none of them.
 *
 * Only allocations and frees that reached the driver have a duration (cudaMalloc, cuMemCreate,
 * maps, and the calls that end these). The key is the event's seq. Call durations_read in an
 * observer's on_end: at that time the trace's events are still open, but nobody reads them. The
 * call scans the table once.
 */
#pragma once

#include "trace.h"

struct duration_listener {
    /* Called once for each row, in the order of seq. -1 stops the scan: *err says why. */
    int (*on_duration)(void *self, uint64_t seq, uint64_t duration_ns, struct err *err);
    void *self;
};

/* Calls nothing if the trace has no durations. */
int durations_read(const struct trace *trace, const struct duration_listener *listener,
                   struct err *err);
