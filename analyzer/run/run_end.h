/* SPDX-License-Identifier: MIT */
/* The trace of a program that ended without exit. A trace cannot tell a kill from a raw exit_group,
 * so the process that waited for the program must ask here. */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_END_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_END_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns whether this ended process left a trace that is not complete, and its path. pattern is
 * the value of GPUMEMTRACE_OUTPUT. Traces of patterns with fields other than %p and %%, and traces
 * under a numbered name, are not found. */
bool run_end_left_trace(const char *pattern, pid_t pid, char path[PATH_MAX]);

/* Returns whether no file that the pattern may stand for was written after `since` (in the clock of
 * file times), at its place or in $TMPDIR. False if the pattern names no regular file. */
struct timespec;
bool run_end_left_nothing(const char *pattern, const struct timespec *since);

/* Returns how many processes of our cgroup the kernel's OOM killer has killed so far. Call it
 * before and after the program. UINT64_MAX: unknown. root as in common/cgroup.h. */
uint64_t run_end_oom_kills(const char *root);
/* Returns whether the kernel killed the program for lack of host memory. */
bool run_end_was_oom_kill(int signal, uint64_t kills_before, uint64_t kills_after);

#endif
