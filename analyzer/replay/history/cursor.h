/* SPDX-License-Identifier: MIT */
/*
 * The position of a replay: the current event, and the history that the replay fills. The parts of
 * a replay get only this cursor.
 */
#pragma once

#include "history.h"

struct spans;

struct cursor {
    struct history *history;
    const struct event *event;
    uint64_t index; /* of the event */
    const struct observers *observers;
    const struct spans *spans; /* the open phases, see spans.h */
    struct err *err;
};

static inline struct moment cursor_moment(const struct cursor *at)
{
    return (struct moment){at->index, at->event->seq, at->event->time_ns,
                           at->history->backwards.open};
}
