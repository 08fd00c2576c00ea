/* SPDX-License-Identifier: MIT */
/*
 * Writes messages on stderr: a line for each run, and the end of the output of a run that memory
 * did not end.
 */
#pragma once

#include "fix.h"

/* Functions for on_begin and on_end of struct fix. They write a line for each run. */
void run_lines_begin(const struct fix *fix, const struct fix_change *change);
void run_lines_end(const struct fix *fix);

/*
 * Reports a run that says nothing about memory: shows the end of its output, and sets *err. `what`
 * is a text such as "nothing was tried".
 */
void run_lines_refuse(const struct fix *fix, const struct trial *trial, const char *what,
                      struct err *err);
