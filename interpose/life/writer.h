/* SPDX-License-Identifier: MIT */
/*
 * The files of this process's trace, the database and the ring beside it, and the thread that moves
 * events from the one into the other. It must not know any hook, nor when a recording starts.
 *
 * Thread-safe, but for writer_setup and writer_start, which come one at a time.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_WRITER_H
#define GPUMEMTRACE_INTERPOSE_LIFE_WRITER_H

#include <stdbool.h>

struct err;

/* Once in a process, before the first start. */
void writer_setup(void);

/* Starts the thread and waits until it has opened the files: that takes more stack than a thread of
 * the program may have. -1: there is no trace, and err says why. */
int writer_start(struct err *err);

/* Has everything stored and the files closed; waits a bounded time, and leaves what is not done in
 * the ring. Callable from a signal handler: the thread does the work. */
void writer_end(void);

/* Around an exec: the trace says that it is complete, and no longer, should the exec fail. */
void writer_store_completeness(bool complete);

void writer_before_fork(void);
void writer_after_fork(bool in_child);

#endif
