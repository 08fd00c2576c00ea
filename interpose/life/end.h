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

/* Says complete; what is not stored yet stays in the ring, for the first reader to take in. true:
 * call recording_exec_failed should the exec return. */
bool recording_before_exec(void);
void recording_exec_failed(void);

#endif
