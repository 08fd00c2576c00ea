/* SPDX-License-Identifier: MIT */
/*
 * What a living recorder's ring says to somebody who watches: how far the database beside it can be
 * believed, and what was lost. It reads and changes nothing, takes no lock and keeps nothing open. It
 * must not know why somebody watches.
 */
#ifndef GPUMEMTRACE_TRACE_RING_LOOK_H
#define GPUMEMTRACE_TRACE_RING_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

struct ring_look {
    bool is_there;
    /* Of the events that are not stored yet; UINT64_MAX: none was seen. Those before it are stored by the time
     * of the look, or will never be: but for one whose thread had taken a number and not yet a slot. */
    uint64_t first_seq;
    bool is_in_call; /* the call of that event has not returned */
    uint64_t lost_events;
    struct ring_sums sums; /* count 0: not known */
};

/* Of the ring beside the trace. */
struct ring_look ring_look(const char *trace_path);

#endif
