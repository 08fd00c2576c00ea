/* SPDX-License-Identifier: MIT */
/*
 * Keeps the names of native frames in the trace, so that it gives the same answer where the
 * program's files are gone or were built anew. It must not know who wants them.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_KEEP_NAMES_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_KEEP_NAMES_H

#include "symbols.h"

/*
 * Writes all names, if the trace has none yet, its recording is over, the file can be written, and
 * every file that a frame lies in is found as it was recorded. Does nothing otherwise, and says
 * nothing: names are looked up as they are shown, and a warning tells what was not found.
 * -1: out of memory.
 */
int keep_names(const struct trace *trace, struct symbols *symbols, struct err *err);

#endif
