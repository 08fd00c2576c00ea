/* SPDX-License-Identifier: MIT */
/*
 * See exit_moment.h.
 */
#include "exit_moment.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "gpumemtrace/compiler.h"
#include "interpose/recording/event_slot.h"

/* The reason of the exit event that was written, plus 1; 0: no event was written. IS_FINAL: the end
 * of an interpreter was written, and since then the process has reached its own exit. */
#define IS_FINAL 0x100u
static _Atomic unsigned marked;

/* The exit status of the process, plus 1; 0: the process has not exited. */
static _Atomic int left_with;

/* The interpreter still says that it finalizes, but the program goes on without it. */
static _Atomic bool interpreter_is_gone;

static void write_event(enum event_kind kind, enum exit_reason reason)
{
    struct thread *thread = thread_current();
    const struct event_args args = {.kind = kind, .device = DEVICE_UNKNOWN, .object = reason};
    if (thread)
        event_write(thread, HOOK_process, &args);
}

void exit_moment_mark(enum exit_reason reason)
{
    unsigned last = 0;
    if (!recording_runs_here())
        return;
    if (atomic_compare_exchange_strong(&marked, &last, reason + 1))
        write_event(EVENT_EXIT, reason);
    else if (last == EXIT_BY_INTERPRETER + 1 && reason != EXIT_BY_EXEC)
        atomic_compare_exchange_strong(&marked, &last, last | IS_FINAL);
}

void exit_moment_undo(enum exit_reason reason)
{
    unsigned last = reason + 1;
    if (recording_runs_here() && atomic_compare_exchange_strong(&marked, &last, 0))
        write_event(EVENT_EXIT_UNDONE, reason);
}

/*
 * CPython sets its flag when it begins to finalize, and clears it only when it is initialized
 * again. A program that only embeds CPython goes on after the interpreter's end. It is known to go
 * on when a thread without an interpreter state allocates memory.
 *
 *     none ──flag set──► exit ──flag clear, or such a thread allocates──► undone
 */
void exit_moment_follow(const struct python *python, enum event_kind kind)
{
    const bool is_finalizing = python->is_finalizing();
    const unsigned last = atomic_load_explicit(&marked, memory_order_relaxed);
    if (GMT_LIKELY(!is_finalizing && last != EXIT_BY_INTERPRETER + 1)) {
        if (atomic_load_explicit(&interpreter_is_gone, memory_order_relaxed))
            atomic_store_explicit(&interpreter_is_gone, false, memory_order_relaxed);
        return;
    }
    if (is_finalizing && kind == EVENT_ALLOC && !python->thread_state())
        atomic_store_explicit(&interpreter_is_gone, true, memory_order_relaxed);
    const bool ends =
        is_finalizing && !atomic_load_explicit(&interpreter_is_gone, memory_order_relaxed);
    if (ends && !last)
        exit_moment_mark(EXIT_BY_INTERPRETER);
    else if (!ends)
        exit_moment_undo(EXIT_BY_INTERPRETER);
}

void exit_moment_leave(int status)
{
    if (recording_runs_here()) /* skip the child of a vfork, because it would write to its parent's
                                * memory */
        atomic_store(&left_with, (status & 0xff) + 1);
}

int exit_moment_status(void)
{
    return atomic_load(&left_with) - 1;
}

void exit_moment_forget(void)
{
    atomic_store(&left_with, 0);
    atomic_store(&marked, 0);
}
