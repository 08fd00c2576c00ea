/* SPDX-License-Identifier: MIT */
/*
 * CLOCK_MONOTONIC in nanoseconds, cheaply. Where the kernel's own clock is the CPU's time-stamp
 * counter, a thread reads the counter and asks the kernel once a millisecond; elsewhere it asks
 * every time. It must not know what the time is for.
 *
 *     kernel's clock   ──┬──────────────┬──────────────┬──►      asked at most every CLOCK_TRUST_NS
 *     counter            ──┴─ + ticks x rate ─┴─ + ticks x rate ─┴──►   in between
 */
#ifndef GPUMEMTRACE_INTERPOSE_RECORDING_CLOCK_H
#define GPUMEMTRACE_INTERPOSE_RECORDING_CLOCK_H

#include <stdint.h>

#include "gpumemtrace/compiler.h"

/* One for each thread; starts as all zero. */
struct clock {
    uint64_t ticks, ns;   /* counter and kernel's clock when the kernel was last asked */
    uint64_t trust_ticks; /* how long that answer is good for; 0: not at all */
    uint64_t rate;        /* ns per tick, times 2^32 */
};

/* Once per recording, before any thread records: decides whether the counter is used. */
void clock_setup(void);
/* Asks the kernel and sets the clock by its answer. Keeps errno. */
uint64_t clock_ask(struct clock *clock);
/* The kernel's time, without a thread's clock. */
uint64_t clock_kernel_ns(void);

/* May fall behind an earlier answer to the same thread by the counter's drift in a millisecond,
 * which is nanoseconds, and by no more. */
static inline uint64_t clock_now_ns(struct clock *clock)
{
    const uint64_t since = GMT_TICKS() - clock->ticks;
    if (GMT_LIKELY(since < clock->trust_ticks))
        return clock->ns + (since * clock->rate >> 32);
    return clock_ask(clock);
}

#endif
