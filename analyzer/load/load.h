/* SPDX-License-Identifier: MIT */
/*
 * Loads a trace file whole. Rings that a killed process left are folded in first, or read without
 * being consumed where the file cannot be written. It must not know what a column means.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_LOAD_H
#define GPUMEMTRACE_ANALYZER_LOAD_LOAD_H

#include "trace.h"

/* -1: *err says what is wrong with the file (ERR_INPUT) or the system (ERR_SYSTEM). */
int load_trace(struct trace *trace, const char *path, struct err *err);

#endif
