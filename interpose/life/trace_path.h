/* SPDX-License-Identifier: MIT */
/*
 * The path of the trace: expands the template, finds a free name, creates the file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

/* Returns the rank in a distributed job, which the environment tells; -1: there is none. */
int64_t trace_path_rank(void);

/* Returns a text "PID.START" that identifies a run by the topmost ancestor of this process that has
 * the recorder preloaded. Not thread-safe. */
const char *trace_path_run_id(void);

/* Expands pattern (%p %h %r %t %%), creates the file (mode 0600, O_EXCL) and stores its absolute
 * path. If the pattern has no %p, a finished trace of an earlier run is replaced. Any other file of
 * that name is kept, and the new trace gets ".2", ".3" … before its extension. -1: *err says
 * why. */
int trace_path_make(const char *pattern, const char *run_id, char *path, size_t path_bytes,
                    struct err *err);

/* Removes a trace and the files beside it. */
void trace_path_remove(const char *path);
