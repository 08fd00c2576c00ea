/* SPDX-License-Identifier: MIT */
/*
 * Where events come from, a batch at a time, in the order of their seq. It must not know what they
 * mean.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_EVENT_SOURCE_H
#define GPUMEMTRACE_ANALYZER_LOAD_EVENT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpumemtrace/err.h"
#include "gpumemtrace/event.h"

struct event_batch {
    const struct event *events; /* valid until the next batch is asked for */
    size_t count;               /* 0: there are no more */
    size_t counted;             /* the first so many count; what comes after the exit does not */
    bool has_exit;              /* the exit is in this batch or was in an earlier one */
};

struct event_source {
    int (*next)(void *self, struct event_batch *batch, struct err *err);
    void *self;
};

#endif
