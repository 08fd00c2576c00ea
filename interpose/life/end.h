/* SPDX-License-Identifier: MIT */
/*
 * Ends the recording of this process, or has its trace complete before an exec. It must not know
 * which functions of libc end a process (exit.c).
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_END_H
#define GPUMEMTRACE_INTERPOSE_LIFE_END_H

#include <stdbool.h>

/* Has everything stored and the trace closed; only in the process that records. May be called where
 * nothing else may, from a signal handler inside malloc: the writer does the work. */
void recording_end(void);

/* libc's daemon() forks and ends the parent without passing through any function of ours: between
 * true and false, a fork on this thread ends the recording of the parent. */
void recording_end_at_fork(bool ends);
/* The last of fork's handlers in the parent. */
void recording_after_fork_in_parent(void);

/* Says complete; what is not stored yet stays in the ring, for the first reader to take in. true:
 * call recording_exec_failed should the exec return. */
bool recording_before_exec(void);
void recording_exec_failed(void);

#endif
