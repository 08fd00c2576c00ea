/* SPDX-License-Identifier: MIT */
/*
 * See exit_moment.h.
 */
#include "exit_moment.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "interpose/recording/event_slot.h"

static _Atomic bool marked;

void exit_moment_mark(enum exit_reason reason)
{
    if (!recording_runs_here() || atomic_exchange(&marked, true))
        return;
    struct thread *thread = thread_current();
    const struct event_args args = {.kind = EVENT_EXIT, .device = DEVICE_UNKNOWN, .object = reason};
    if (thread)
        event_write(thread, HOOK_process, &args);
}

void exit_moment_forget(void)
{
    atomic_store(&marked, false);
}
