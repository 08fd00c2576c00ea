/* SPDX-License-Identifier: MIT */
/*
 * The recording of this process: its state, its settings, its ring, and the numbers of its events.
 * The room life/ starts and ends the recording.
 *
 *     IDLE ──first CUDA call──► RUNNING ──exit, _exit──► ENDED
 *       │                        a fork's child: IDLE again
 *       └──cannot──► FAILED      exec: the trace says complete, and goes on should the exec fail
 */
#pragma once

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "config.h"
#include "gpumemtrace/compiler.h"
#include "trace/ring.h"

enum recording_state { RECORDING_IDLE, RECORDING_RUNNING, RECORDING_ENDED, RECORDING_FAILED };

/* Callbacks of the higher room that keeps the events from before the start of the recording. */
struct recording_early {
    void (*write)(void);      /* called when the recording runs: write the events now */
    void (*after_fork)(void); /* called first in a fork's child: reset the room's locks */
};

typedef void recording_period_function(void);

struct recording {
    _Atomic int state;
    /* The process that this memory belongs to as its recording; 0: none yet. */
    _Atomic pid_t owner_pid;
    /* Points to the number (generation) of the running recording, or to 0 if none runs. That number
     * lies in a page that the kernel wipes in forked children, even in the child of a raw clone().
     * So a hook that loads the number learns whether a recording runs in this process, and which
     * one. */
    _Atomic(_Atomic uint64_t *) live;
    uint64_t start_monotonic_ns;
    struct config config;
    struct ring ring;
    /* Posted when enough is waiting for the writer, and when the writer is to end. */
    sem_t work;
    /* The writer could not store its last batch. Relaxed, because reading an old value only costs a
     * short wait. */
    _Atomic bool stuck;
    /* Set by the room that keeps the first early event; NULL: there is no early event. */
    _Atomic(const struct recording_early *) early;
    /* Set by a higher room; the writer calls it ten times a second or more. NULL: nothing. */
    _Atomic(recording_period_function *) at_period;
    /* On a cache line of its own, because every event of every thread increments it. */
    GMT_CACHE_ALIGNED _Atomic uint64_t seq;
};

extern struct recording recording;

/* Returns the number of the running recording; 0: none. Acquire: a reader that sees the number also
 * sees all that was set up before it. */
static inline uint64_t recording_generation(void)
{
    return atomic_load_explicit(atomic_load_explicit(&recording.live, memory_order_acquire),
                                memory_order_acquire);
}

/* Returns true if no recording was tried in this process yet. */
static inline bool recording_is_idle(void)
{
    return atomic_load(&recording.state) == RECORDING_IDLE;
}

/* Returns true if a recording runs, and this process is not a child that was made without the fork
 * handlers. */
bool recording_runs_here(void);

static inline uint64_t recording_next_seq(void)
{
    /* Relaxed: the number itself is the order; it publishes nothing else. */
    return atomic_fetch_add_explicit(&recording.seq, 1, memory_order_relaxed) + 1;
}

/* Callable from a hook. */
static inline void recording_wake_writer(void)
{
    sem_post(&recording.work);
}

/* Begins a recording with this number. 0: ends the recording; from now on hooks only call the real
 * functions. */
void recording_set_live(uint64_t generation);
