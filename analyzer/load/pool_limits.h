/* SPDX-License-Identifier: MIT */
/*
 * What a framework's pool may hold on a device, as its refusals told the program: events that stand
 * behind what they limit, read before a replay. It must not know how the limit was set.
 *
 * To be asked while nobody reads the events. It costs one scan of them, if an allocation failed.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_POOL_LIMITS_H
#define GPUMEMTRACE_ANALYZER_LOAD_POOL_LIMITS_H

#include "trace.h"

struct pool_limit {
    int device;
    uint64_t bytes, rounding_bytes; /* the limit is no further than that from bytes */
};

struct pool_limit_listener {
    /* Once for each time that a limit was told, in the order of seq. -1 stops: *err says why. */
    int (*on_limit)(void *self, const struct pool_limit *limit, struct err *err);
    void *self;
};

int pool_limits_read(const struct trace *trace, const struct pool_limit_listener *listener,
                     struct err *err);

#endif
