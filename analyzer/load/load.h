/* SPDX-License-Identifier: MIT */
/*
 * Loads the tables of a trace file. First it folds in the rings that a killed process left; if the
 * file cannot be written, it reads the rings without consuming them.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_LOAD_H
#define GPUMEMTRACE_ANALYZER_LOAD_LOAD_H

#include "trace.h"

/* -1: *err says what is wrong with the file (ERR_INPUT) or the system (ERR_SYSTEM). */
int load_trace(struct trace *trace, const char *path, struct err *err);

#endif
