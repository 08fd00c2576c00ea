/* SPDX-License-Identifier: MIT */
/* Times of clocks, in nanoseconds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Returns a time for measuring durations. */
static inline uint64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Returns at_ns + later_ns. The sum wraps, because the times of a damaged trace may be any 64
 * bits. */
static inline int64_t clock_after_ns(int64_t at_ns, int64_t later_ns)
{
    return (int64_t)((uint64_t)at_ns + (uint64_t)later_ns);
}

/* Returns at_ns - from_ns. The difference also wraps. */
static inline int64_t clock_since_ns(int64_t at_ns, int64_t from_ns)
{
    return (int64_t)((uint64_t)at_ns - (uint64_t)from_ns);
}

/*
 * True if two machines booted at the same time, given the times at which their monotonic clocks
 * were 0. Half a minute of difference is allowed, because the wall clock may be set while a machine
 * runs; another boot is minutes away.
 */
static inline bool clock_same_boot(int64_t boot_ns, int64_t other_boot_ns)
{
    const int64_t allowed_ns = INT64_C(30000000000);
    const int64_t apart_ns = clock_since_ns(boot_ns, other_boot_ns);
    return apart_ns > -allowed_ns && apart_ns < allowed_ns;
}
