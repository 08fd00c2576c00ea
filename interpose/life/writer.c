/* SPDX-License-Identifier: MIT */
/*
 * See writer.h. writer_lock protects `store` and `drain`. A thread holds it for one batch or one
 * step at a time.
 */
#include "writer.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/proc_stat.h"
#include "exit_moment.h"
#include "full_disk.h"
#include "guarded_files.h"
#include "host_memory.h"
#include "readings.h"
#include "interpose/recording/clock.h"
#include "interpose/recording/log.h"
#include "interpose/recording/recording.h"
#include "interpose/stack/take/call_stack.h"
#include "meta_start.h"
#include "summary.h"
#include "trace/drain.h"
#include "trace/tally.h"
#include "trace_path.h"

#define WRITER_PERIOD_NS 100000000

static pthread_mutex_t writer_lock = PTHREAD_MUTEX_INITIALIZER;
/* The number of threads that wait for writer_lock. The writer lets these threads go first. If it
 * did not, it would take the lock again at once. */
static _Atomic int writer_guests;

static struct store store;
static struct drain *drain;
static struct tally tally;
static char trace_path[PATH_MAX];
static char ring_path[PATH_MAX + 16];

static pthread_t writer_thread;
static sem_t writer_done;
static _Atomic bool writer_ends;
/* The program's last thread has ended without exit(): see end_as_last_thread. */
static _Atomic bool writer_left;

static void lock_writer_as_guest(void)
{
    atomic_fetch_add(&writer_guests, 1);
    pthread_mutex_lock(&writer_lock);
    atomic_fetch_sub(&writer_guests, 1);
}

/* --- opening --- */

static int open_ring(struct err *err)
{
    snprintf(ring_path, sizeof ring_path, "%s-ring.0", trace_path);
    if (ring_create(&recording.ring, ring_path, recording.config.ring_max, err))
        return -1;
    if (!(drain = drain_new(&recording.ring, &store, false))) {
        err_set(err, ERR_SYSTEM, "out of memory");
        return -1;
    }
    drain->tally = &tally;
    host_memory_begin();
    return 0;
}

static int open_files(const char *pattern, struct err *err)
{
    const char *run_id = trace_path_run_id();
    ring_path[0] = '\0';
    if (trace_path_make(pattern, run_id, trace_path, sizeof trace_path, err))
        return -1;
    if (!store_create(&store, trace_path, err) &&
        !meta_start_store(&store, run_id, call_stack_unwinder_name(), recording.start_monotonic_ns,
                          err) &&
        !open_ring(err))
        return 0;
    full_disk_explain(trace_path, err);
    store_abandon(&store);
    trace_path_remove(trace_path);
    return -1;
}

/* Some file systems support neither shared mappings nor WAL. Then the trace goes to $TMPDIR. */
static int open_files_somewhere(struct err *err)
{
    char pattern[CONFIG_TEXT_BYTES + 64];
    struct err second;
    const char *folder = getenv("TMPDIR");
    const char *name = strrchr(recording.config.output, '/');
    if (!open_files(recording.config.output, err))
        return 0;
    if (err->code == ERR_USAGE)
        return -1;
    snprintf(pattern, sizeof pattern, "%s/%s", folder && *folder ? folder : "/tmp",
             name ? name + 1 : recording.config.output);
    if (open_files(pattern, &second))
        return -1; /* *err keeps the reason of the first failure */
    log_line("%s; recording to %s instead", err->message, trace_path);
    return 0;
}

/* --- keeping and closing --- */

/* Called before each step with writer_lock held: reopens the database if the program has closed its
 * descriptors. */
static int keep_store(struct err *err)
{
    if (store.db && !guarded_files_lost())
        return 0;
    return store_open_again(&store, trace_path, err);
}

/* Events that cannot be stored stay in the ring, and the writer tries again. */
static void log_write_error(const struct err *err)
{
    log_once("cannot write %s: %s; events are kept in the ring beside it and written later",
             trace_path, err->message);
}

static int store_trace_end(struct err *err)
{
    const struct drain_end end = {.end_ns =
                                      (int64_t)(clock_kernel_ns() - recording.start_monotonic_ns),
                                  .exit_status = exit_moment_status(),
                                  .in_flight_events = drain->pending_count,
                                  .complete = true,
                                  .has_sums = true};
    tally_finish(&tally);
    return drain_store_end(drain, &end, err);
}

/* Only the ring's file is removed, not its mapping, because other threads may still be inside
 * hooks. Calls in flight are not waited for. */
static void close_files(void)
{
    struct err err = {0};
    pthread_mutex_lock(&writer_lock);
    drain->dead = true;
    if (store.db && !keep_store(&err)) {
        host_memory_store(&store, true);
        readings_store(&store);
    }
    host_memory_end();
    if (keep_store(&err) || drain_all(drain, &err) || store_trace_end(&err) ||
        store_close(&store, &err)) {
        log_line("%s is incomplete: %s; the missing events are in %s%s", trace_path, err.message,
                 ring_path,
                 atomic_load(&recording.ring.header->lost_events)
                     ? ", except for some that are lost"
                     : "");
        store_abandon(&store);
    } else {
        unlink(ring_path);
        if (!recording.config.quiet)
            summary_line(trace_path, &tally, &recording.ring);
    }
    pthread_mutex_unlock(&writer_lock);
}

/* --- writing --- */

static void wait_for_work(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WRITER_PERIOD_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    while (sem_clockwait(&recording.work, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
        ;
    while (sem_trywait(&recording.work) == 0) /* one batch serves all threads that woke the
                                               * writer */
        ;
}

/* Returns 1 if more events wait, 0 if none wait, and -1 if storing failed. */
static int write_batch(void)
{
    struct err err;
    while (atomic_load(&writer_guests))
        sched_yield();
    pthread_mutex_lock(&writer_lock);
    const int status = keep_store(&err) ? -1 : drain_batch(drain, &err);
    if (status >= 0) {
        host_memory_store(&store, false);
        readings_store(&store);
    }
    pthread_mutex_unlock(&writer_lock);
    atomic_store_explicit(&recording.stuck, status < 0, memory_order_relaxed);
    if (status < 0)
        log_write_error(&err);
    return status;
}

/* Arguments of the writer's thread, and whether it could open the files. */
struct start {
    struct err *err;
    int result;
    sigset_t signals; /* the signal mask of the starting thread */
    sem_t done;
};

/* A program may end by the end of its last thread, so the writer must not keep the process alive.
 * The exit status is then that of the main thread. If that status is not 0, libc does not know the
 * main thread, as in a child of a clone(), and the writer ends with the same status. If the status
 * is 0, libc lets the last thread call the exit handlers. The last thread is now the writer, so the
 * writer takes the signal mask of one of the program's threads. */
static void end_as_last_thread(const sigset_t *signals)
{
    struct proc_stat stat;
    exit_moment_mark(EXIT_BY_EXIT);
    if (proc_stat_read(&stat, getpid()) == 0 && WEXITSTATUS(stat.wait_status) != 0) {
        recording_set_live(0); /* another process may share this memory */
        close_files();
        syscall(SYS_exit, WEXITSTATUS(stat.wait_status));
    }
    atomic_store(&writer_left, true);
    pthread_sigmask(SIG_SETMASK, signals, NULL);
}

static void write_until_the_end(const sigset_t *signals)
{
    while (!atomic_load(&writer_ends)) {
        int status;
        wait_for_work();
        recording_period_function *at_period = atomic_load(&recording.at_period);
        if (at_period)
            at_period();
        while ((status = write_batch()) > 0 && !atomic_load(&writer_ends))
            ;
        if (proc_stat_is_last_thread()) {
            end_as_last_thread(signals);
            return;
        }
        /* Wait for a whole period, because threads that find the ring full wake the writer again
         * and again. */
        if (status < 0 && !atomic_load(&writer_ends))
            usleep(WRITER_PERIOD_NS / 1000);
    }
    close_files();
}

static void *writer_main(void *argument)
{
    struct start *start = argument;
    const sigset_t signals = start->signals;
    const int result = start->result = open_files_somewhere(start->err);
    sem_post(&start->done);
    if (!result)
        write_until_the_end(&signals);
    sem_post(&writer_done);
    return NULL;
}

/* The program's default size may be too small for the writer. */
#define WRITER_STACK_BYTES ((size_t)2 << 20)

static int create_writer(struct start *start)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, WRITER_STACK_BYTES);
    const int failed = pthread_create(&writer_thread, &attributes, writer_main, start);
    pthread_attr_destroy(&attributes);
    return failed;
}

/* The writer blocks all signals, because the program's signals must not reach a thread that the
 * program does not know. */
int writer_start(struct err *err)
{
    struct start start = {.err = err};
    sigset_t all;
    sigfillset(&all);
    sem_init(&recording.work, 0, 0);
    sem_init(&writer_done, 0, 0);
    sem_init(&start.done, 0, 0);
    atomic_store(&writer_ends, false);
    atomic_store(&writer_left, false);
    atomic_store(&recording.stuck, false);
    pthread_sigmask(SIG_SETMASK, &all, &start.signals);
    const int failed = create_writer(&start);
    pthread_sigmask(SIG_SETMASK, &start.signals, NULL);
    if (failed) {
        err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(failed));
        return -1;
    }
    pthread_setname_np(writer_thread, "gpumemtrace");
    while (sem_wait(&start.done) != 0 && errno == EINTR)
        ;
    sem_destroy(&start.done);
    pthread_detach(writer_thread);
    return start.result;
}

/* --- ending --- */

/* How long the end of the recording waits for the writer to store one more batch. */
#define END_WAIT_S 60

static bool writer_is_done_within(time_t seconds)
{
    struct timespec until;
    int failed;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    do
        failed = sem_clockwait(&writer_done, CLOCK_MONOTONIC, &until);
    while (failed && errno == EINTR);
    return !failed;
}

/* Storing a full ring on a slow disk takes minutes, so the time limit begins again at each stored
 * batch. */
static void wait_for_writer(void)
{
    uint64_t batches;
    do
        batches = atomic_load_explicit(&drain->batch_count, memory_order_relaxed);
    while (!writer_is_done_within(END_WAIT_S) &&
           batches != atomic_load_explicit(&drain->batch_count, memory_order_relaxed));
}

void writer_end(void)
{
    if (atomic_load(&writer_left)) {
        close_files();
        return;
    }
    atomic_store(&writer_ends, true);
    recording_wake_writer();
    wait_for_writer();
}

/* --- exec --- */

/* Before an exec, at most this many batches are stored. The first reader of the trace stores the
 * events that are left in the ring. */
#define EXEC_BATCHES 2

void writer_store_completeness(bool complete)
{
    struct err err = {0};
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    lock_writer_as_guest();
    /* After a failed exec the trace continues. The EXIT event stays in the trace, and later events
     * show that the program went on. */
    const bool stored = !keep_store(&err) &&
                        (complete ? !drain_some(drain, EXEC_BATCHES, &err) && !store_trace_end(&err)
                                  : !store_meta_integer(&store, META_complete, 0, &err));
    if (!stored)
        log_write_error(&err);
    pthread_mutex_unlock(&writer_lock);
    pthread_setcancelstate(cancel_state, NULL);
}

/* --- forks --- */

void writer_setup(void)
{
    /* SQLite needs no mutexes, because writer_lock lets only one thread into SQLite. If SQLite had
     * mutexes, the child of a fork could inherit a locked mutex. */
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    guarded_files_install();
}

void writer_before_fork(void)
{
    lock_writer_as_guest();
}

/* Database, ring and thread belong to the parent. The child leaks the memory of all three, but
 * closes the descriptors, so that its own children do not inherit them. */
static void forget_parents_files(void)
{
    pthread_mutex_init(&writer_lock, NULL);
    guarded_files_forget();
    host_memory_forget();
    memset(&store, 0, sizeof store);
    drain = NULL;
    memset(&tally, 0, sizeof tally);
    trace_path[0] = ring_path[0] = '\0';
    atomic_store(&writer_guests, 0);
}

void writer_after_fork(bool in_child)
{
    if (in_child)
        forget_parents_files();
    else
        pthread_mutex_unlock(&writer_lock);
}
