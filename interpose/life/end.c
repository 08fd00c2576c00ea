/* SPDX-License-Identifier: MIT */
/*
 * See end.h. No lock is taken: the end may come from a signal handler on any thread.
 */
#include "end.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "exit_moment.h"
#include "interpose/recording/recording.h"
#include "writer.h"

void recording_end(void)
{
    int running = RECORDING_RUNNING, cancel_state;
    if (atomic_load(&recording.owner_pid) != getpid() ||
        !atomic_compare_exchange_strong(&recording.state, &running, RECORDING_ENDED))
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    recording_set_live(0);
    writer_end();
    pthread_setcancelstate(cancel_state, NULL);
}

bool recording_before_exec(void)
{
    if (!recording_runs_here())
        return false;
    exit_moment_mark(EXIT_BY_EXEC);
    writer_store_completeness(true);
    return true;
}

void recording_exec_failed(void)
{
    exit_moment_undo(EXIT_BY_EXEC);
    writer_store_completeness(false);
}
