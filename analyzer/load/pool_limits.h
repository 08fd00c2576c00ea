/* SPDX-License-Identifier: MIT */
/*
 * Limits of a framework's pool on each device, which its failures report. These events come after
 * the allocations that they limit, so they are read before a replay.
 *
 * Call it while nobody reads the trace's events. It costs one scan of them, if an allocation
 * failed.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_POOL_LIMITS_H
#define GPUMEMTRACE_ANALYZER_LOAD_POOL_LIMITS_H

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

#endif
