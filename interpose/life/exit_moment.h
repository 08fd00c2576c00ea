/* SPDX-License-Identifier: MIT */
/*
 * Writes the moment that counts as the exit of the process to the trace, as an event. Memory that
 * is live at that moment is a leak.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpumemtrace/event.h"
#include "interpose/stack/python/find.h"

/* Writes the event at the first call, and only in the process that records. */
void exit_moment_mark(enum exit_reason reason);
/* Takes the event back if it was written with this reason, because the exec failed. */
void exit_moment_undo(enum exit_reason reason);
void exit_moment_follow(const struct python *python, enum event_kind kind);

/* Must hooks call exit_moment_watch? */
static inline bool exit_moment_is_watched(void)
{
    return atomic_load_explicit(&python_known, memory_order_relaxed) != NULL;
}

/* Call it before an event. Checks whether an interpreter of this process has begun to finalize,
 * which counts as an exit. Also checks whether the program went on after that without the
 * interpreter. */
static inline void exit_moment_watch(enum event_kind kind)
{
    const struct python *python = atomic_load_explicit(&python_known, memory_order_acquire);
    if (python)
        exit_moment_follow(python, kind);
}

/* Notes that the process exits with this status. The last call counts, because an exit handler may
 * call exit() again. */
void exit_moment_leave(int status);
/* Returns the exit status, 0 to 255; -1: the process has not exited yet. */
int exit_moment_status(void);

/* Call it in the child of a fork, which has no exit moment yet. */
void exit_moment_forget(void);
