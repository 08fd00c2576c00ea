/* SPDX-License-Identifier: MIT */
/*
 * Starting, running and ending the recording of a process. See recorder.h.
 *
 * Locks: start_lock is held while a recording starts. A fork takes it, and the writer's, so that a
 * child never inherits SQLite, or a start, in the middle. The end takes neither: it may come from a
 * signal handler on any thread.
 */
#include "recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/stack/call_stack.h"
#include "interpose/hook/capture.h"
#include "clock.h"
#include "interpose/lookup/coverage.h"
#include "interpose/hook/device.h"
#include "interpose/lookup/loader.h"
#include "log.h"
#include "interpose/stack/modules.h"
#include "interpose/report/phases.h"
#include "interpose/lookup/resolve.h"
#include "interpose/stack/stacks.h"
#include "interpose/stack/string_ids.h"
#include "thread.h"
#include "interpose/stack/unwind.h"
#include "writer.h"

static _Atomic uint64_t nothing_lives;

struct recorder recorder = {.live = &nothing_lives};

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

static const struct unwinder *unwinder;
/* The process this memory records for; 0: none yet. */
static _Atomic pid_t owner_pid;

static _Atomic bool exit_marked;

/* Never reused: tells thread states of an earlier trace, or of a fork's parent, from current ones.
 */
static uint64_t generation;

const struct unwinder *recorder_unwinder(void)
{
    return unwinder;
}

/* --- fork --- */

/* The word recorder.live points to while something is recorded. Where the kernel cannot wipe it in
 * children, after_fork_in_child does. */
static _Atomic uint64_t *make_live_word(void)
{
    static _Atomic uint64_t fallback;
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return &fallback;
    madvise(page, page_bytes, MADV_WIPEONFORK);
    return page;
}

static void set_live(uint64_t number)
{
    static _Atomic uint64_t *word;
    if (!word)
        word = make_live_word();
    /* Release: a hook that sees the number sees everything that was set up before. */
    atomic_store_explicit(word, number, memory_order_release);
    atomic_store_explicit(&recorder.live, word, memory_order_release);
}

/* The child starts as if nothing had been. */
static void forget_parent(void)
{
    pthread_mutex_init(&start_lock, NULL);
    writer_after_fork(true);
    resolve_after_fork(true);
    call_stack_after_fork(true);
    phases_after_fork();
    atomic_store(&recorder.seq, 0);
    atomic_store(&exit_marked, false);
    atomic_store(&recorder.state, RECORDER_IDLE);
}

static void before_fork(void)
{
    /* First: a stack that is being taken may need what the next lines hold. */
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
}

static void after_fork_in_child(void)
{
    set_live(0);
    forget_parent();
    atomic_store(&owner_pid, 0);
}

/* A child made without fork's handlers, by a raw clone(), finds out at its first call. */
static void notice_clone(void)
{
    const pid_t own = getpid();
    pid_t owner = atomic_load(&owner_pid);
    if (owner != own && atomic_compare_exchange_strong(&owner_pid, &owner, own) && owner != 0)
        forget_parent();
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

/* The calling thread's part: what may load libraries. It may be inside a dlopen itself, whose lock
 * no other thread gets. */
static int prepare(struct err *err)
{
    prepare_once();
    config_read(&recorder.config);
    if (recorder.config.depth < 1 || recorder.config.depth > STACK_DEPTH_MAX) {
        log_line("GPUMEMTRACE_DEPTH is 1 to %d; going on with 128", STACK_DEPTH_MAX);
        recorder.config.depth = 128;
    }
    clock_setup();
    recorder.start_monotonic_ns = clock_kernel_ns();
    modules_setup();
    strings_setup();
    device_setup();
    call_stack_setup(recorder.config.stacks);
    unwinder = unwind_choose(recorder.config.stacks);
    if (thread_setup() || stacks_setup()) {
        err_set(err, ERR_SYSTEM, "out of memory");
        return -1;
    }
    return 0;
}

static void start(void)
{
    struct err err = {0};
    generation++;
    if (prepare(&err) || writer_start(&err)) {
        log_line("not recording: %s", err.message);
        atomic_store(&recorder.state, RECORDER_FAILED);
        return;
    }
    atomic_store(&recorder.state, RECORDER_RUNNING);
    set_live(generation);
    phases_replay_early();
    loader_check();
    coverage_replay_early();
}

static bool start_once(void)
{
    /* What start() calls may come back here on this thread. */
    static _Thread_local bool starting GMT_TLS_INITIAL_EXEC;
    int cancel_state;
    if (starting)
        return false;
    starting = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    /* Outside start_lock: a thread inside dlopen holds the loader's lock and may come to
     * start_lock. */
    unwind_load();
    pthread_mutex_lock(&start_lock);
    if (atomic_load(&recorder.state) == RECORDER_IDLE)
        start();
    pthread_mutex_unlock(&start_lock);
    pthread_setcancelstate(cancel_state, NULL);
    starting = false;
    return recorder_generation() != 0;
}

bool recorder_is_idle(void)
{
    return atomic_load(&recorder.state) == RECORDER_IDLE;
}

bool recorder_start(void)
{
    const int saved_errno = errno;
    notice_clone();
    const bool runs = atomic_load(&recorder.state) == RECORDER_IDLE && start_once();
    errno = saved_errno;
    return runs;
}

/* --- ending --- */

static bool is_recording_here(void)
{
    return atomic_load(&recorder.state) == RECORDER_RUNNING && owner_pid == getpid();
}

void recorder_mark_exit(enum exit_reason reason)
{
    if (!is_recording_here() || atomic_exchange(&exit_marked, true))
        return;
    struct thread *thread = thread_current();
    const struct capture_facts facts = {
        .kind = EVENT_EXIT, .device = DEVICE_UNKNOWN, .object = reason};
    if (thread)
        capture_event(thread, HOOK_process, &facts);
}

void recorder_sleep(void)
{
    set_live(0);
}

void recorder_end(void)
{
    int running = RECORDER_RUNNING, cancel_state;
    if (owner_pid != getpid() ||
        !atomic_compare_exchange_strong(&recorder.state, &running, RECORDER_ENDED))
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    set_live(0);
    writer_end();
    pthread_setcancelstate(cancel_state, NULL);
}

/* --- exec --- */

bool recorder_before_exec(void)
{
    if (!is_recording_here())
        return false;
    recorder_mark_exit(EXIT_BY_EXEC);
    writer_store_completeness(true);
    return true;
}

void recorder_exec_failed(void)
{
    writer_store_completeness(false);
    atomic_store(&exit_marked, false);
}
