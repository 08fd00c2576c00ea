/* SPDX-License-Identifier: MIT */
/*
 * Keeps the names of native frames in the trace, so that it gives the same answers when the
 * program's files are gone or were rebuilt.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_KEEP_NAMES_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_KEEP_NAMES_H

#include "symbols.h"

/*
 * Writes all names, if the trace has none yet, its recording is over, the file can be written, and
 * every file with a frame is found as it was recorded. Otherwise it silently does nothing: names
 * are then looked up when they are shown, with a warning if some are not found. -1: out of memory.
 */
int keep_names(const struct trace *trace, struct symbols *symbols, struct err *err);

#endif
