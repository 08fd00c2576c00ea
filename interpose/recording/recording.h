/* SPDX-License-Identifier: MIT */
/*
 * The recording of this process, as everybody sees it: does it run, its settings, its ring, the
 * numbers of its events. It must not know what starts and ends it (life/), nor any hook, stack or
 * phase.
 *
 *     IDLE ──first CUDA call──► RUNNING ──exit, _exit──► ENDED
 *       │                        a fork's child: IDLE again
 *       └──cannot──► FAILED      exec: the trace says complete, and goes on should the exec fail
 */
#ifndef GPUMEMTRACE_INTERPOSE_RECORDING_RECORDING_H
#define GPUMEMTRACE_INTERPOSE_RECORDING_RECORDING_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "config.h"
#include "gpumemtrace/compiler.h"
#include "trace/ring.h"

enum recording_state { RECORDING_IDLE, RECORDING_RUNNING, RECORDING_ENDED, RECORDING_FAILED };

/* What a higher room keeps of events that come before the recording starts. */
struct recording_early {
    void (*write)(void);      /* the recording runs: write them now */
    void (*after_fork)(void); /* in a fork's child, before anything else: locks are free again */
};

struct recording {
    _Atomic int state;
    /* The process this memory records for; 0: none yet. */
    _Atomic pid_t owner_pid;
    /* Points to the number (generation) of the recording that runs in this process; to 0 when none
     * does. The word lies in a page that the kernel wipes in forked children, also those of a raw
     * clone(): one load tells a hook that it is awake, in the right process and in the right trace.
     */
    _Atomic(_Atomic uint64_t *) live;
    uint64_t start_monotonic_ns;
    struct config config;
    struct ring ring;
    /* Posted when more than the writer likes is waiting, and when it is to end. */
    sem_t work;
    /* The writer could not store its last batch. Relaxed: a late answer costs a short wait. */
    _Atomic bool stuck;
    /* Set by whoever keeps the first early event; NULL: nobody has. */
    _Atomic(const struct recording_early *) early;
    /* On a line of its own: every event of every thread increments it. */
    GMT_CACHE_ALIGNED _Atomic uint64_t seq;
};

extern struct recording recording;

/* The number of the recording that runs; 0: none. Acquire: what was set up before the number is
 * seen with it. */
static inline uint64_t recording_generation(void)
{
    return atomic_load_explicit(atomic_load_explicit(&recording.live, memory_order_acquire),
                                memory_order_acquire);
}

/* Nothing was tried yet in this process. */
static inline bool recording_is_idle(void)
{
    return atomic_load(&recording.state) == RECORDING_IDLE;
}

/* Something is recorded, and not in a child that came into being without fork's handlers. */
bool recording_runs_here(void);

static inline uint64_t recording_next_seq(void)
{
    /* Relaxed: the number itself is the order; nothing else is published by it. */
    return atomic_fetch_add_explicit(&recording.seq, 1, memory_order_relaxed) + 1;
}

/* Callable from a hook. */
static inline void recording_wake_writer(void)
{
    sem_post(&recording.work);
}

/* Begins a recording with this number; 0: hooks pass through from now on. */
void recording_set_live(uint64_t generation);

#endif
