/* SPDX-License-Identifier: MIT */
/*
 * Where a replay stands: the current event, and the history that it fills. Every part of a replay
 * sees this and no more of the whole. It must not know those parts.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_CURSOR_H
#define GPUMEMTRACE_ANALYZER_REPLAY_CURSOR_H

#include "history.h"

/* Index of a device in tables by device. All unknown devices share one slot. */
#define DEVICE_SLOTS (INT8_MAX + 2)
#define DEVICE_SLOT(device) ((device) + 1)

struct cursor {
    struct history *history;
    const struct event *event;
    uint32_t index; /* of the event in the trace */
    struct err *err;
};

#endif
