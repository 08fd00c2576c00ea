/* SPDX-License-Identifier: MIT */
/*
 * What an analysis sees while events are replayed, if it cannot wait for the history: every birth
 * and end of a block, every phase that begins or ends, and the end of every event, in this order.
 * An observer keeps what is live or has a name, never events. It must not change the history.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_OBSERVER_H
#define GPUMEMTRACE_ANALYZER_REPLAY_OBSERVER_H

#include "cursor.h"

struct spans; /* the open phases, see spans.h */

/* A block was born or has ended; its account's live_bytes are those after it. */
struct change {
    const struct block *block;
    bool birth;
    bool is_resize;      /* the end of a block that goes on in another size at once */
    uint32_t event_span; /* phase the event belongs to, HISTORY_NONE: outside any */
    uint32_t birth_span; /* phase of the block's birth; it may be closed */
};

struct observer {
    void *self;
    /* Each may be NULL; -1: out of memory, *at->err says so. */
    int (*on_change)(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change);
    /* Called after a span began, and before it is closed. */
    int (*on_span)(void *self, const struct cursor *at, const struct spans *spans, uint32_t span,
                   bool begins);
    /* The life of a segment of a framework's pool is over. Which pool's it is may be known only after its
     * beginning, so nobody is told of that. Those that are live at the end are the history's. */
    int (*on_segment)(void *self, const struct cursor *at, const struct segment *segment);
    /* A framework's pool is found to hold a segment, or holds it no longer: its account's reserved_bytes are those after it. */
    int (*on_reserved)(void *self, const struct cursor *at, const struct segment *segment,
                       bool begins);
    int (*on_event)(void *self, const struct cursor *at);
    uint64_t kinds; /* of the events that on_event is told of: OBSERVER_KIND(…); 0: all */
    /* Once, after the last event; at->event is that one, NULL: there was none. */
    int (*on_end)(void *self, const struct cursor *at);
};

#define OBSERVER_KIND(kind) (UINT64_C(1) << (kind))
_Static_assert(EVENT_KIND_COUNT <= 64, "a bit for each kind of event");

struct observers {
    const struct observer *items;
    size_t count;
};

static inline int observers_see_segment(const struct cursor *at, const struct segment *segment)
{
    for (size_t i = 0; i < at->observers->count; i++) {
        const struct observer *observer = &at->observers->items[i];
        if (observer->on_segment && observer->on_segment(observer->self, at, segment))
            return -1;
    }
    return 0;
}

static inline int observers_see_reserved(const struct cursor *at, const struct segment *segment,
                                         bool begins)
{
    for (size_t i = 0; i < at->observers->count; i++) {
        const struct observer *observer = &at->observers->items[i];
        if (observer->on_reserved && observer->on_reserved(observer->self, at, segment, begins))
            return -1;
    }
    return 0;
}

#endif
