/* SPDX-License-Identifier: MIT */
/*
 * Reads CLOCK_MONOTONIC in nanoseconds at a low cost. If the kernel's clock source is the CPU's
 * time-stamp counter, a thread reads the counter and asks the kernel only once a millisecond. If
 * the kernel uses another clock source, the thread asks the kernel every time.
 *
 *     kernel's clock   ──┬──────────────┬──────────────┬──►      asked at most every CLOCK_TRUST_NS
 *     counter            ──┴─ + ticks x rate ─┴─ + ticks x rate ─┴──►   in between
 */
#pragma once

#include <stdint.h>

#include "gpumemtrace/compiler.h"

/* Each thread has one such struct, which starts as all zero. */
struct clock {
    uint64_t ticks, ns;   /* counter and kernel's clock when the kernel was last asked */
    uint64_t trust_ticks; /* how long `ns` may be extrapolated; 0: not at all */
    uint64_t rate;        /* ns per tick, times 2^32 */
};

/* Decides whether the counter is used. Called once per recording, before any thread records. */
void clock_setup(void);
/* Asks the kernel for the time, and sets the clock by the answer. Keeps errno. */
uint64_t clock_ask(struct clock *clock);
/* Returns the kernel's time, for callers without a struct clock. */
uint64_t clock_kernel_ns(void);

/* A result may be lower than an earlier result on the same thread, by at most the time between the
 * two reads of a pair (PAIR_TICKS) and the counter's drift in a millisecond. */
static inline uint64_t clock_now_ns(struct clock *clock)
{
    const uint64_t since = GMT_TICKS() - clock->ticks;
    if (GMT_LIKELY(since < clock->trust_ticks))
        return clock->ns + (since * clock->rate >> 32);
    return clock_ask(clock);
}
