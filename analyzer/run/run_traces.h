/* SPDX-License-Identifier: MIT */
/* Finds the traces of a run that has ended. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* A run that has ended. */
struct run_past {
    const char *pattern;     /* value of GPUMEMTRACE_OUTPUT */
    pid_t pid;               /* topmost process; an older run may have had the same pid */
    struct timespec started; /* in the clock of file times */
};

typedef void run_trace_seen(void *self, const char *path);

/* Calls on_trace for every complete trace of that run. Files that were not written since the start
 * of the run are not opened. */
void run_traces_each(const struct run_past *run, run_trace_seen *on_trace, void *self);

/* Returns whether the file was written at or after `since`. */
bool run_traces_is_since(const char *path, const struct timespec *since);
