/* SPDX-License-Identifier: MIT */
/*
 * The moment that counts as exit, as an event in the trace: leaks are what is live then. It must
 * not know how a process ends.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_EXIT_MOMENT_H
#define GPUMEMTRACE_INTERPOSE_LIFE_EXIT_MOMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpumemtrace/event.h"
#include "interpose/stack/python/find.h"

/* Only the first call writes the event, and only in the process that records. */
void exit_moment_mark(enum exit_reason reason);
/* Takes it back if the last reason was this one: the exec failed. */
void exit_moment_undo(enum exit_reason reason);
void exit_moment_follow(const struct python *python, enum event_kind kind);

/* Is exit_moment_watch to be called at all? */
static inline bool exit_moment_is_watched(void)
{
    return atomic_load_explicit(&python_known, memory_order_relaxed) != NULL;
}

/* Before an event: an interpreter of this process may have begun to finalize, which is an exit; or it
 * is gone and the program goes on without it. */
static inline void exit_moment_watch(enum event_kind kind)
{
    const struct python *python = atomic_load_explicit(&python_known, memory_order_acquire);
    if (python)
        exit_moment_follow(python, kind);
}

/* The process leaves with that status; the last one counts, as of an exit inside an exit handler. */
void exit_moment_leave(int status);
/* 0 to 255; -1: it has not left. */
int exit_moment_status(void);

/* There was none yet: this is a fork's child. */
void exit_moment_forget(void);

#endif
