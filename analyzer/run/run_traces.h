/* SPDX-License-Identifier: MIT */
/* The traces that a run which has ended left. It must not know what anybody wants with them. */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_TRACES_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_TRACES_H

#include <sys/types.h>

typedef void run_trace_seen(void *self, const char *path);

/* Every complete trace of the run whose topmost process this was; pattern is what GPUMEMTRACE_OUTPUT
 * was. */
void run_traces_each(const char *pattern, pid_t pid, run_trace_seen *on_trace, void *self);

#endif
