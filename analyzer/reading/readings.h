/* SPDX-License-Identifier: MIT */
/*
 * The traces of one command. Each is read when it is first borrowed. The first READINGS_KEPT traces
 * stay open until the end, so that all their borrowers share one pass. Any other trace is released
 * when its borrower gives it back, because the traces of a large job do not fit into memory
 * together.
 */
#pragma once

#include "reading.h"

enum { READINGS_KEPT = 8 };

struct readings_item {
    struct opened_trace file; /* open until the trace is read */
    struct reading *reading;  /* NULL: not open */
    int borrowers;
    bool is_kept;
};
struct readings {
    const char *const *paths;
    int count, kept_count;
    struct reading_ask ask;      /* applies to all traces */
    struct readings_item *items; /* by trace */
};

/* Prepares the readings and reads nothing yet. The paths must outlive the readings. On -1 nothing
 * has to be released. */
int readings_init(struct readings *readings, const char *const *paths, int count,
                  const struct reading_ask *ask, struct err *err);
void readings_release(struct readings *readings);

/* Takes over an open file. The db of *file becomes NULL. */
void readings_take_opened(struct readings *readings, int trace, struct opened_trace *file);

/* Returns the trace's reading, which stays valid until readings_give_back, or NULL on an error.
 * `watcher` sees the events if they are read now. It may be NULL. */
const struct reading *readings_borrow(struct readings *readings, int trace,
                                      const struct observer *watcher, struct err *err);
void readings_give_back(struct readings *readings, int trace);
