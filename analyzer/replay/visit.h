/* SPDX-License-Identifier: MIT */
/*
 * Shows the events of a history, in order, with the live bytes after each. It must not know what
 * visitors make of them.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_VISIT_H
#define GPUMEMTRACE_ANALYZER_REPLAY_VISIT_H

#include "history.h"

/* One event as a visitor sees it. An event that ends several blocks is shown once for each. */
struct visit {
    const struct history *history;
    const struct event *event;
    uint32_t index;
    const struct block *block;  /* NULL: the event changed no memory */
    int64_t delta_bytes;        /* what this change added to the block's stock */
    const uint64_t *live_bytes; /* by stock, after this change */
};

struct visitor {
    void *self;
    void (*on_event)(void *self, const struct visit *visit);
};

/* Shows every event that counts to every visitor, in order. -1: out of memory. */
int history_visit(const struct history *history, const struct visitor *visitors, size_t count,
                  struct err *err);

#endif
