/* SPDX-License-Identifier: MIT */
/*
 * The files of this process's trace, the database and the ring beside it, and the thread that moves
 * events from the ring to the database. It must not know any hook, nor when a recording starts.
 *
 * Thread-safe, except writer_setup and writer_start, which are called by one thread at a time.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_WRITER_H
#define GPUMEMTRACE_INTERPOSE_LIFE_WRITER_H

#include <stdbool.h>

struct err;

/* Once in a process, before the first start. */
void writer_setup(void);

/* Starts the thread and waits until it has opened the files, which takes more stack than a thread
 * of the program may have. -1: there is no trace; *err says why. */
int writer_start(struct err *err);

/* Has everything stored and the files closed. Waits as long as the writer gets on; what it cannot
 * store stays in the ring. Callable from a signal handler: the thread does the work. */
void writer_end(void);

/* Before an exec the trace is marked as complete; after an exec that failed, as not complete. */
void writer_store_completeness(bool complete);

void writer_before_fork(void);
void writer_after_fork(bool in_child);

#endif
