/* SPDX-License-Identifier: MIT */
/* From what a person names to the trace that is being written. It must not know what it holds. */
#ifndef GPUMEMTRACE_ANALYZER_LIVE_FIND_TRACE_H
#define GPUMEMTRACE_ANALYZER_LIVE_FIND_TRACE_H

#include <limits.h>

#include "gpumemtrace/err.h"

/* operand: a trace; the number of a process, of which those that it started are looked at, too; NULL: of the
 * traces in this folder the one that was begun last. */
int find_trace(char path[PATH_MAX], const char *operand, struct err *err);

#endif
