/* SPDX-License-Identifier: MIT */
/*
 * The events that one transaction stores. It must not know how they are found or stored.
 */
#ifndef GPUMEMTRACE_TRACE_BATCH_H
#define GPUMEMTRACE_TRACE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "record.h"

/* The slot stays in its ring until the batch is committed. */
struct batch_event {
    const struct ring_slot *slot;
    uint32_t thread_id;
};

struct batch {
    const struct batch_event *events; /* ascending in seq */
    size_t count;
};

#endif
