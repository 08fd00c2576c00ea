/* SPDX-License-Identifier: MIT */
/* What is said on stderr while runs are made, and of a run that lack of memory did not end. It must not know why
 * they are made. */
#ifndef GPUMEMTRACE_ANALYZER_FIX_RUN_LINES_H
#define GPUMEMTRACE_ANALYZER_FIX_RUN_LINES_H

#include "fix.h"

/* For on_begin and on_end of struct fix: a line for each run. */
void run_lines_begin(const struct fix *fix, const struct fix_change *change);
void run_lines_end(const struct fix *fix);

/* The run says nothing of memory: shows the end of what it printed, and sets *err. what: "nothing was tried". */
void run_lines_refuse(const struct fix *fix, const struct trial *trial, const char *what,
                      struct err *err);

#endif
