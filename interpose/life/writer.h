/* SPDX-License-Identifier: MIT */
/*
 * The files of this process's trace (the database, and the ring beside it), and the thread that
 * moves events from the ring to the database.
 *
 * Thread-safe, except writer_setup and writer_start, which one thread at a time may call.
 */
#pragma once

#include <stdbool.h>

struct err;

/* Call it once in a process, before the first writer_start. */
void writer_setup(void);

/* Starts the thread and waits until it has opened the files. The writer's thread opens the files,
 * because that takes more stack than a thread of the program may have. Returns -1 if there is no
 * trace; *err says why. */
int writer_start(struct err *err);

/* Stores all events and closes the files. Waits as long as the writer makes progress; events that
 * cannot be stored stay in the ring. Callable from a signal handler, because the writer's thread
 * does the work. */
void writer_end(void);

/* Marks the trace as complete (true, before an exec) or as not complete (false, after a failed
 * exec). */
void writer_store_completeness(bool complete);

void writer_before_fork(void);
void writer_after_fork(bool in_child);
