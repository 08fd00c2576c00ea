/* SPDX-License-Identifier: MIT */
/*
 * Tells a process that watches a recorder up to which event the database is complete, and how many
 * events were lost. The functions only read the ring, take no lock and keep no file open.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

struct ring_look {
    bool is_there;
    /* The lowest seq that is not stored yet; UINT64_MAX: none was seen. Earlier events were stored
     * when the ring was read, or never will be. The only exception is an event whose thread had
     * taken a number but not yet a slot. */
    uint64_t first_seq;
    bool is_in_call; /* the call of that event has not returned */
    uint64_t lost_events;
    struct ring_sums sums; /* count 0: unknown */
};

/* Reads the ring beside the trace. */
struct ring_look ring_look(const char *trace_path);
