/* SPDX-License-Identifier: MIT */
/*
 * Reads the limits of a framework's pool on each device. The pool reports a limit when an
 * allocation fails, which is after the allocations that the limit concerns. So the limits are read
 * before a replay.
 *
 * Call the function while nobody reads the trace's events. If an allocation failed, the function
 * scans all events once.
 */
#pragma once

#include "trace.h"

struct pool_limit {
    int device;
    uint64_t bytes, rounding_bytes; /* bytes is off by at most rounding_bytes */
};

struct pool_limit_listener {
    /* Called once for each report, in the order of seq. -1 stops the scan: *err says why. */
    int (*on_limit)(void *self, const struct pool_limit *limit, struct err *err);
    void *self;
};

int pool_limits_read(const struct trace *trace, const struct pool_limit_listener *listener,
                     struct err *err);
