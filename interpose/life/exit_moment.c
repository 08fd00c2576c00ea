/* SPDX-License-Identifier: MIT */
/*
 * See exit_moment.h.
 */
#include "exit_moment.h"

#include <stdatomic.h>

#include "interpose/recording/event_slot.h"

/* The reason of the exit that has been written, plus 1; 0: none. */
static _Atomic unsigned marked;

static void write_event(enum event_kind kind, enum exit_reason reason)
{
    struct thread *thread = thread_current();
    const struct event_args args = {.kind = kind, .device = DEVICE_UNKNOWN, .object = reason};
    if (thread)
        event_write(thread, HOOK_process, &args);
}

void exit_moment_mark(enum exit_reason reason)
{
    unsigned none = 0;
    if (recording_runs_here() && atomic_compare_exchange_strong(&marked, &none, reason + 1))
        write_event(EVENT_EXIT, reason);
}

void exit_moment_undo(enum exit_reason reason)
{
    unsigned last = reason + 1;
    if (recording_runs_here() && atomic_compare_exchange_strong(&marked, &last, 0))
        write_event(EVENT_EXIT_UNDONE, reason);
}

void exit_moment_forget(void)
{
    atomic_store(&marked, 0);
}
