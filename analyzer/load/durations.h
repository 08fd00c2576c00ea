/* SPDX-License-Identifier: MIT */
/*
 * How long calls took: the table call_duration, read row by row when somebody asks. It must not know
 * what the calls were, nor what is done with their times.
 *
 * Only allocations and frees that reached the driver have a duration (cudaMalloc, cuMemCreate, maps and
 * their ends); the key is the event's seq. To be asked while the events are still open and nobody
 * reads them: in an observer's on_end. There it costs one scan of the table and keeps nothing.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_DURATIONS_H
#define GPUMEMTRACE_ANALYZER_LOAD_DURATIONS_H

#include "trace.h"

struct duration_listener {
    /* Once for each call, in the order of seq. -1 stops the scan: *err says why. */
    int (*on_duration)(void *self, uint64_t seq, uint64_t duration_ns, struct err *err);
    void *self;
};

/* Nothing is told of a trace without durations: of an older recorder, or of no such call. */
int durations_read(const struct trace *trace, const struct duration_listener *listener,
                   struct err *err);

#endif
