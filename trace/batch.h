/* SPDX-License-Identifier: MIT */
/*
 * A batch: the events that one transaction stores.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "record.h"

/* The slot stays in its ring until the batch is committed. */
struct batch_event {
    const struct ring_slot *slot;
    uint32_t thread_id;
};

struct batch {
    const struct batch_event *events; /* in ascending order of seq */
    size_t count;
};
