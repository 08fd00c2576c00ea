/* SPDX-License-Identifier: MIT */
/* What clocks say, in nanoseconds. */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_CLOCK_H
#define GPUMEMTRACE_ANALYZER_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* For how long something takes. */
static inline uint64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

#endif
