/* SPDX-License-Identifier: MIT */
/*
 * Ends the recording of this process, or completes its trace before an exec. exit.c knows which
 * functions of libc end a process.
 */
#pragma once

#include <stdbool.h>

/* Stores all events and closes the trace; does nothing in a process that does not record. Callable
 * even from a signal handler inside malloc, because the writer's thread does the work. */
void recording_end(void);

/* libc's daemon() forks and ends the parent without calling any function of ours. So between
 * recording_end_at_fork(true) and (false), a fork on this thread ends the recording of the
 * parent. */
void recording_end_at_fork(bool ends);
/* In the parent, this is the last of the fork handlers. */
void recording_after_fork_in_parent(void);

/* Marks the trace as complete. Events that are not stored yet stay in the ring, and the first
 * reader of the trace stores them. Returns true if the caller must call recording_exec_failed when
 * the exec returns. */
bool recording_before_exec(void);
void recording_exec_failed(void);
