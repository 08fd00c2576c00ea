/* SPDX-License-Identifier: MIT */
/* The traces that a run which has ended left. It must not know what anybody wants with them. */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_TRACES_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_TRACES_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* A run that has ended, as its traces tell it. */
struct run_past {
    const char *pattern;     /* what GPUMEMTRACE_OUTPUT was */
    pid_t pid;               /* of its topmost process; an older run may have had the same */
    struct timespec started; /* by the clock that files' times come from */
};

typedef void run_trace_seen(void *self, const char *path);

/* Every complete trace of that run. Files that were not written since its start are not opened. */
void run_traces_each(const struct run_past *run, run_trace_seen *on_trace, void *self);

/* Whether the file was written since then. */
bool run_traces_is_since(const char *path, const struct timespec *since);

#endif
