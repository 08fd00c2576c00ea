/* SPDX-License-Identifier: MIT */
/* Finds the trace of a program that ended without exit. A trace alone does not show whether the
 * program was killed or called exit_group itself, so the process that waited for the program must
 * ask here. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns whether this ended process left a trace that is not complete, and sets path to that
 * trace. pattern is the value of GPUMEMTRACE_OUTPUT. Traces of patterns with fields other than %p
 * and %%, and traces under a numbered name, are not found. */
bool run_end_left_trace(const char *pattern, pid_t pid, char path[PATH_MAX]);

/* Returns true if the run left no trace: no file that matches the pattern was written after `since`
 * (in the clock of file times), neither at the pattern's place nor in $TMPDIR. Returns false if the
 * pattern names something other than a regular file. */
struct timespec;
bool run_end_left_nothing(const char *pattern, const struct timespec *since);

/* Returns how many processes of our cgroup the kernel's OOM killer has killed so far. Call it
 * before and after the program. UINT64_MAX: unknown. For root, see common/cgroup.h. */
uint64_t run_end_oom_kills(const char *root);
/* Returns whether the kernel killed the program for lack of host memory. */
bool run_end_was_oom_kill(int signal, uint64_t kills_before, uint64_t kills_after);
