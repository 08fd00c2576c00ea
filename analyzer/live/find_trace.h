/* SPDX-License-Identifier: MIT */
/* Finds the trace that is being written, from an operand of the command line. */
#pragma once

#include <limits.h>

#include "gpumemtrace/err.h"

/* operand: a trace; or a process id, whose descendants are searched too; or NULL, which takes the
 * newest recording in the current folder. */
int find_trace(char path[PATH_MAX], const char *operand, struct err *err);
