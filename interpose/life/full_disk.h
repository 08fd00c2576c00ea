/* SPDX-License-Identifier: MIT */
/*
 * Makes the message for a trace that does not fit on its disk. The message says which disk is full
 * and what to do.
 */
#pragma once

#include <limits.h>

#include "gpumemtrace/err.h"

#define FULL_DISK_ADVICE "free space there, or name a file on another disk in GPUMEMTRACE_OUTPUT"

/* Returns the folder of an absolute path. */
const char *full_disk_folder(const char *trace_path, char folder[PATH_MAX]);

/* Completes the message in *err, which is the reason why the trace could not be made. Adds the
 * path, and says that the disk is full if it is. */
void full_disk_explain(const char *trace_path, struct err *err);
