/* SPDX-License-Identifier: MIT */
/*
 * The recording of this process: started by the first CUDA call, ended by exit, _exit or exec,
 * started anew in a forked child by its own first CUDA call. Owns settings and ring; the files are
 * the writer's (writer.h). It must not know any hook.
 *
 *     IDLE ──first CUDA call──► RUNNING ──exit, _exit──► ENDED
 *       │                        a fork's child: IDLE again
 *       └──cannot──► FAILED      exec: the trace says complete, and goes on should the exec fail
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_RECORDER_H
#define GPUMEMTRACE_INTERPOSE_LIFE_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "gpumemtrace/compiler.h"
#include "trace/ring.h"

enum recorder_state { RECORDER_IDLE, RECORDER_RUNNING, RECORDER_ENDED, RECORDER_FAILED };

struct recorder {
    _Atomic int state;
    /* Points to the number of the recording that runs in this process; to 0 when none does. The
     * word lies in a page that the kernel wipes in forked children, also those of a raw clone():
     * one load tells a hook that it is awake, in the right process and in the right trace. */
    _Atomic(_Atomic uint64_t *) live;
    uint64_t start_monotonic_ns;
    struct config config;
    struct ring ring;
    /* On a line of its own: every event of every thread increments it. */
    GMT_CACHE_ALIGNED _Atomic uint64_t seq;
};

extern struct recorder recorder;

/* 0: nothing is recorded now. Acquire: what was set up before the number is seen with it. */
static inline uint64_t recorder_generation(void)
{
    return atomic_load_explicit(atomic_load_explicit(&recorder.live, memory_order_acquire),
                                memory_order_acquire);
}

/* The first CUDA call of a process: starts the recording if nothing was tried yet. Slow; errno is
 * kept. true: it runs. */
bool recorder_start(void);
/* Nothing was tried yet in this process. */
bool recorder_is_idle(void);

static inline uint64_t recorder_next_seq(void)
{
    /* Relaxed: the number itself is the order; nothing else is published by it. */
    return atomic_fetch_add_explicit(&recorder.seq, 1, memory_order_relaxed) + 1;
}

/* The engine that takes native stacks; valid while recording. */
const struct unwinder *recorder_unwinder(void);

/* The moment that counts as exit: leaks are what is live now. Only the first call says so. */
enum exit_reason { EXIT_BY_EXIT, EXIT_BY__EXIT, EXIT_BY_EXEC };
void recorder_mark_exit(enum exit_reason reason);
/* Has everything stored and the trace closed; only in the process that records. May be called where
 * nothing else may, from a signal handler inside malloc: the writer does the work. */
void recorder_end(void);
/* Says complete; what is not stored yet stays in the ring, for the first reader to take in. true:
 * call recorder_exec_failed should the exec return. */
bool recorder_before_exec(void);
void recorder_exec_failed(void);
/* Hooks pass through from now on. */
void recorder_sleep(void);

#endif
