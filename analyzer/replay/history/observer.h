/* SPDX-License-Identifier: MIT */
/*
 * Callbacks for an analysis that needs more than the final history. They are called for every birth
 * and end of a block, for every begin and end of a phase, and at the end of every event, in this
 * order. An observer may keep what is live or has a name, but no events. It must not change the
 * history.
 */
#pragma once

#include "cursor.h"

/* A block was born or has ended. The live_bytes of its account already include this change. */
struct change {
    const struct block *block;
    bool birth;
    bool is_resize;      /* the end of a block that continues in another size */
    uint32_t event_span; /* phase of the event, HISTORY_NONE: none */
    uint32_t birth_span; /* phase of the block's birth; it may be closed */
};

struct observer {
    void *self;
    /* Each callback may be NULL. If a callback returns -1, *at->err says why. */
    int (*on_change)(void *self, const struct cursor *at, const struct change *change);
    /* Called after a span began, and before it is closed. */
    int (*on_span)(void *self, const struct cursor *at, uint32_t span, bool begins);
    /*
     * The segment of a framework's pool has ended. There is no begin callback, because the owning
     * pool is often not known yet. Segments that are live at the end are in the history only.
     */
    int (*on_segment)(void *self, const struct cursor *at, const struct segment *segment);
    /*
     * A segment was found to belong to a framework's pool, or has ended. The account's
     * reserved_bytes include the change already.
     */
    int (*on_reserved)(void *self, const struct cursor *at, const struct segment *segment,
                       bool begins);
    int (*on_event)(void *self, const struct cursor *at);
    uint64_t kinds; /* kinds of events for on_event: OBSERVER_KIND(…); 0: all */
    /*
     * Called once after the last event, which is at->event (NULL: there was no event). For a
     * growing trace, it is called at each replay_pause.
     */
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
