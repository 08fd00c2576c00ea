/* SPDX-License-Identifier: MIT */
/* Makes a trace in memory and replays it, for the unit tests of the replay. */
#pragma once

#include "analyzer/replay/replay.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

/* An event source that gives its events in batches of up to 1000. */
struct made_events {
    struct event *items;
    size_t count, capacity, given;
};

static inline void made_add(struct made_events *made, struct event event)
{
    if (made->count == made->capacity) {
        made->capacity = made->capacity ? made->capacity * 2 : 64;
        made->items = realloc(made->items, made->capacity * sizeof *made->items);
        assert_non_null(made->items);
    }
    event.seq = made->count + 1;
    event.time_ns = event.seq * 10;
    event.thread_id = event.thread_id ? event.thread_id : 1;
    made->items[made->count++] = event;
}

static inline int made_next(void *self, struct event_batch *batch, struct err *err)
{
    enum { MOST = 1000 };
    struct made_events *made = self;
    size_t left = made->count - made->given;
    (void)err;
    *batch = (struct event_batch){.events = made->items + made->given,
                                  .count = left < MOST ? left : MOST};
    batch->counted = batch->count;
    made->given += batch->count;
    return 0;
}

/* Replays a trace that has only these events, and frees the events. */
static inline struct history made_replay(struct made_events *made, const struct replay_plan *plan)
{
    static const struct trace trace;
    const struct event_source source = {made_next, made};
    const struct replay_plan none = {0};
    struct history history;
    struct err err = {0};
    assert_int_equal(replay_trace(&history, &trace, &source, plan ? plan : &none, &err), 0);
    free(made->items);
    *made = (struct made_events){0};
    return history;
}
