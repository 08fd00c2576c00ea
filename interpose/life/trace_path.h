/* SPDX-License-Identifier: MIT */
/*
 * Which file a recording goes to: the template expanded, the name made unique, the file made. It
 * must not know what is written there.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_TRACE_PATH_H
#define GPUMEMTRACE_INTERPOSE_LIFE_TRACE_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

/* The rank of a distributed job from the environment, -1 if there is none. */
int64_t trace_path_rank(void);

/* Identifies a run: the topmost ancestor that has the same recorder preloaded, "PID.START".
 * Terminated. */
void trace_path_run_id(char *text, size_t text_bytes);

/* Expands pattern (%p %h %r %t %%), makes the file (mode 0600, O_EXCL) and stores its absolute
 * path. A finished trace of an earlier run is replaced when the pattern has no %p; any other file
 * of that name is left alone and ".2", ".3" … goes before the extension. */
int trace_path_make(const char *pattern, const char *run_id, char *path, size_t path_bytes,
                    struct err *err);

/* Removes the trace that it made, and what lies beside it. */
void trace_path_remove(const char *path);

#endif
