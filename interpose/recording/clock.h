/* SPDX-License-Identifier: MIT */
/*
 * CLOCK_MONOTONIC in nanoseconds, cheaply: where the kernel itself takes the time from the CPU's
 * time-stamp counter, a thread reads that and asks the kernel once a millisecond; elsewhere it asks
 * each time. It must not know what the time is for.
 *
 *     kernel's clock   ──┬──────────────┬──────────────┬──►      asked at most every CLOCK_TRUST_NS
 *     counter            ──┴─ + ticks x rate ─┴─ + ticks x rate ─┴──►   in between
 */
#ifndef GPUMEMTRACE_INTERPOSE_RECORDING_CLOCK_H
#define GPUMEMTRACE_INTERPOSE_RECORDING_CLOCK_H

#include <stdint.h>

#include "gpumemtrace/compiler.h"

/* A thread's own; all zero to begin with. */
struct clock {
    uint64_t ticks, ns;   /* of the last time the kernel was asked */
    uint64_t trust_ticks; /* how long that lasts; 0: not at all */
    uint64_t rate;        /* ns per tick, times 2^32 */
};

/* Once per recording: is the counter to be trusted, and from when does its rate count? */
void clock_setup(void);
/* Asks the kernel, and the clock is right again. Keeps errno. */
uint64_t clock_ask(struct clock *clock);
/* The kernel's answer, no thread's. */
uint64_t clock_kernel_ns(void);

/* Never behind an earlier answer to the same thread by more than the counter's drift in a
 * millisecond, which is nanoseconds. */
static inline uint64_t clock_now_ns(struct clock *clock)
{
    const uint64_t since = GMT_TICKS() - clock->ticks;
    if (GMT_LIKELY(since < clock->trust_ticks))
        return clock->ns + (since * clock->rate >> 32);
    return clock_ask(clock);
}

#endif
