/* SPDX-License-Identifier: MIT */
/*
 * The message for a trace that finds no room: which disk is full and what to do.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_FULL_DISK_H
#define GPUMEMTRACE_INTERPOSE_LIFE_FULL_DISK_H

#include <limits.h>

#include "gpumemtrace/err.h"

#define FULL_DISK_ADVICE "free space there, or name a file on another disk in GPUMEMTRACE_OUTPUT"

/* The folder of an absolute path. */
const char *full_disk_folder(const char *trace_path, char folder[PATH_MAX]);

/* *err is the reason why the trace could not be made. Adds the path, and says so if the disk is
 * full. */
void full_disk_explain(const char *trace_path, struct err *err);

#endif
