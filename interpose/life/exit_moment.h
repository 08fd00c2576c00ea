/* SPDX-License-Identifier: MIT */
/*
 * The moment that counts as exit, as an event in the trace: memory that is live then is a leak.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_EXIT_MOMENT_H
#define GPUMEMTRACE_INTERPOSE_LIFE_EXIT_MOMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpumemtrace/event.h"
#include "interpose/stack/python/find.h"

/* Writes the event at the first call, and only in the process that records. */
void exit_moment_mark(enum exit_reason reason);
/* Takes the event back if its reason was this one: the exec failed. */
void exit_moment_undo(enum exit_reason reason);
void exit_moment_follow(const struct python *python, enum event_kind kind);

/* Must hooks call exit_moment_watch? */
static inline bool exit_moment_is_watched(void)
{
    return atomic_load_explicit(&python_known, memory_order_relaxed) != NULL;
}

/* Called before an event: checks whether an interpreter of this process has begun to finalize,
 * which is an exit, or whether the program went on without it. */
static inline void exit_moment_watch(enum event_kind kind)
{
    const struct python *python = atomic_load_explicit(&python_known, memory_order_acquire);
    if (python)
        exit_moment_follow(python, kind);
}

/* The process leaves with this status. The last call counts, as for exit() inside an exit
 * handler. */
void exit_moment_leave(int status);
/* Exit status, 0 to 255; -1: the process has not left. */
int exit_moment_status(void);

/* For a fork's child: it has no exit moment yet. */
void exit_moment_forget(void);

#endif
