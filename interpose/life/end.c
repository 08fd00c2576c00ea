/* SPDX-License-Identifier: MIT */
/*
 * See end.h. The functions take no lock, because a signal handler on any thread may end the
 * process.
 */
#include "end.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "exit_moment.h"
#include "gpumemtrace/compiler.h"
#include "interpose/recording/log.h"
#include "interpose/recording/recording.h"
#include "not_modelled.h"
#include "writer.h"

void recording_end(void)
{
    int running = RECORDING_RUNNING, cancel_state;
    if (atomic_load(&recording.owner_pid) != getpid())
        return;
    if (atomic_load(&recording.state) == RECORDING_RUNNING)
        not_modelled_count();
    if (!atomic_compare_exchange_strong(&recording.state, &running, RECORDING_ENDED))
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    recording_set_live(0);
    writer_end();
    pthread_setcancelstate(cancel_state, NULL);
}

static _Thread_local bool ends_at_fork GMT_TLS_INITIAL_EXEC;

void recording_end_at_fork(bool ends)
{
    ends_at_fork = ends;
    if (!ends && atomic_load(&recording.state) == RECORDING_ENDED)
        log_once("daemon() failed after its fork, at which recording had ended: later calls are "
                 "not recorded");
}

void recording_after_fork_in_parent(void)
{
    if (!ends_at_fork)
        return;
    exit_moment_mark(EXIT_BY__EXIT);
    recording_end();
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
