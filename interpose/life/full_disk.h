/* SPDX-License-Identifier: MIT */
/*
 * What is said where a trace finds no room: which disk is full and what to do. It must not know what
 * was to be written.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_FULL_DISK_H
#define GPUMEMTRACE_INTERPOSE_LIFE_FULL_DISK_H

#include <limits.h>

#include "gpumemtrace/err.h"

#define FULL_DISK_ADVICE "free space there, or name a file on another disk in GPUMEMTRACE_OUTPUT"

/* The folder of an absolute path. */
const char *full_disk_folder(const char *trace_path, char folder[PATH_MAX]);

/* The trace could not be made for the reason in *err, which gets a path and, if the disk is full,
 * says so. */
void full_disk_explain(const char *trace_path, struct err *err);

#endif
