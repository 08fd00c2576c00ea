/* SPDX-License-Identifier: MIT */
/*
 * Starts a recording.
 *
 * Locks: start_lock is held while a recording starts. A fork also takes start_lock, and the
 * writer's lock. So a child never inherits SQLite in the middle of a call, or a recording that is
 * half started.
 */
#include "start.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "common/own_fd.h"
#include "end.h"
#include "exit_moment.h"
#include "interpose/cuda/device.h"
#include "interpose/image/scope.h"
#include "interpose/lookup/coverage.h"
#include "interpose/lookup/resolve.h"
#include "interpose/recording/clock.h"
#include "interpose/recording/log.h"
#include "interpose/recording/recording.h"
#include "interpose/recording/string_ids.h"
#include "interpose/stack/setup.h"
#include "interpose/stack/take/call_stack.h"
#include "writer.h"

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

/* The generation of the current or the last recording. No generation is used twice, because it
 * distinguishes current thread states from the states of an earlier recording or of a fork's
 * parent. */
static uint64_t generation;

/* --- fork --- */

/* In a child: resets all state, as if nothing had been recorded yet. */
static void forget_parents_recording(void)
{
    const struct recording_early *early = atomic_load(&recording.early);
    pthread_mutex_init(&start_lock, NULL);
    writer_after_fork(true);
    resolve_after_fork(true);
    call_stack_after_fork(true);
    if (early)
        early->after_fork();
    exit_moment_forget();
    atomic_store(&recording.seq, 0);
    atomic_store(&recording.state, RECORDING_IDLE);
}

static void before_fork(void)
{
    /* This comes first, because a thread that takes a stack may need the locks that are taken
     * below. */
    call_stack_before_fork();
    pthread_mutex_lock(&start_lock);
    writer_before_fork();
    resolve_before_fork();
}

static void after_fork_in_parent(void)
{
    resolve_after_fork(false);
    writer_after_fork(false);
    pthread_mutex_unlock(&start_lock);
    call_stack_after_fork(false);
    recording_after_fork_in_parent();
}

static void after_fork_in_child(void)
{
    recording_set_live(0);
    forget_parents_recording();
    atomic_store(&recording.owner_pid, 0);
}

/* Resets all state in the child of a raw clone(), for which no fork handlers ran. The child does
 * this at its first call. */
static void notice_clone(void)
{
    const pid_t own = getpid();
    pid_t owner = atomic_load(&recording.owner_pid);
    if (owner != own && atomic_compare_exchange_strong(&recording.owner_pid, &owner, own) &&
        owner != 0)
        forget_parents_recording();
}

/* --- starting --- */

static void prepare_once(void)
{
    static bool done;
    if (done)
        return;
    writer_setup();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    done = true;
}

/* Does the part of the start that may load libraries. It must run on the calling thread: this
 * thread may be inside a dlopen and hold the loader's lock, and no other thread would get that
 * lock. */
static int prepare_recording(struct err *err)
{
    prepare_once();
    config_read(&recording.config);
    clock_setup();
    recording.start_monotonic_ns = clock_kernel_ns();
    strings_setup();
    device_setup();
    if (thread_setup() || stack_setup(recording.config.stacks, recording.config.depth)) {
        err_set(err, ERR_SYSTEM, "out of memory");
        return -1;
    }
    return 0;
}

static void check_who_takes_dlsym(void)
{
    const char *other = scope_before("dlsym");
    if (!other)
        return;
    log_once("%s replaces dlsym before this library does: preload this library first, or calls "
             "through dlsym are not recorded",
             other);
    coverage_count("dlsym (another library takes it first)");
}

static void start_locked(void)
{
    struct err err = {0};
    generation++;
    if (prepare_recording(&err) || writer_start(&err)) {
        log_line("not recording: %s", err.message);
        atomic_store(&recording.state, RECORDING_FAILED);
        return;
    }
    atomic_store(&recording.state, RECORDING_RUNNING);
    recording_set_live(generation);
    const struct recording_early *early = atomic_load(&recording.early);
    if (early)
        early->write();
    check_who_takes_dlsym();
    coverage_write_pending();
}

/* If the limit of descriptors is low, the recorder opens no files and leaves all descriptors to the
 * program. */
static bool may_open_files(void)
{
    int idle = RECORDING_IDLE;
    if (!own_fd_too_few())
        return true;
    if (atomic_compare_exchange_strong(&recording.state, &idle, RECORDING_FAILED))
        log_line(
            "not recording: fewer than 32 descriptors are allowed; raise the limit (ulimit -n)");
    return false;
}

static bool start_once(void)
{
    /* Set while this thread starts the recording, because the functions called meanwhile may make a
     * hooked call on this thread. */
    static _Thread_local bool starting GMT_TLS_INITIAL_EXEC;
    int cancel_state;
    if (starting)
        return false;
    starting = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    /* This is done without start_lock, because another thread inside a dlopen may hold the loader's
     * lock and wait for start_lock. */
    stack_load();
    pthread_mutex_lock(&start_lock);
    if (recording_is_idle())
        start_locked();
    pthread_mutex_unlock(&start_lock);
    pthread_setcancelstate(cancel_state, NULL);
    starting = false;
    return recording_generation() != 0;
}

bool recording_start(void)
{
    const int saved_errno = errno;
    notice_clone();
    const bool runs = recording_is_idle() && may_open_files() && start_once();
    errno = saved_errno;
    return runs;
}
