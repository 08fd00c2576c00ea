/* SPDX-License-Identifier: MIT */
/* An interface for reading events a batch at a time, in the order of their seq. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gpumemtrace/err.h"
#include "gpumemtrace/event.h"

struct event_batch {
    const struct event *events; /* valid until the next batch */
    size_t count;               /* 0: there are no more */
    size_t counted;             /* how many of the events count; events after the exit do not */
    bool has_exit;              /* this or an earlier batch has the exit */
};

struct event_source {
    int (*next)(void *self, struct event_batch *batch, struct err *err);
    void *self;
};
