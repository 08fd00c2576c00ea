/* SPDX-License-Identifier: MIT */
/*
 * The trace that a program left when it ended without exit. Only whoever waited for the program can
 * tell a kill from a raw exit_group; the trace cannot. It must not know how the program was started.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_END_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_END_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Did this process, which has ended, leave a trace that is not complete? pattern is what
 * GPUMEMTRACE_OUTPUT was; path becomes the trace's. A pattern with more than %p and %% in it, and a
 * trace under a numbered name, are not found. */
bool run_end_left_trace(const char *pattern, pid_t pid, char path[PATH_MAX]);

/* Was nothing written since then (of the clock that files' times come from) under a name that the
 * pattern may have become, beside it or in $TMPDIR? false if it names no regular file. */
struct timespec;
bool run_end_left_nothing(const char *pattern, const struct timespec *since);

/* Before and after the program: how many processes of our cgroup the kernel's OOM killer has killed.
 * UINT64_MAX: nobody says. root as in common/cgroup.h. */
uint64_t run_end_oom_kills(const char *root);
/* Whether a program that the signal ended was killed for the host's memory. */
bool run_end_was_oom_kill(int signal, uint64_t kills_before, uint64_t kills_after);

#endif
