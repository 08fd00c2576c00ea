/* SPDX-License-Identifier: MIT */
/*
 * Measures the two slow instructions that every event takes: the locked increment, which gives the
 * event its number, and the read of the time-stamp counter, which gives it its time. Each is
 * measured alone, and both one after the other, always with a store to a new cache line:
 *
 *     bench_instructions
 *
 * Prints "none NS increment NS counter NS both NS". Each NS is the lowest of several rounds.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gpumemtrace/compiler.h"

#define LINES 4096
#define ROUNDS 2000

struct line {
    uint64_t words[8];
};

static struct line lines[LINES];
static _Atomic uint64_t number;

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

#define MEASURE(name, ...)                                                                         \
    static double name(void)                                                                       \
    {                                                                                              \
        double lowest_ns = 1e9;                                                                    \
        for (int round = 0; round < ROUNDS; round++) {                                             \
            const double start_ns = thread_ns();                                                   \
            for (struct line *line = lines; line < lines + LINES; line++) {                        \
                line->words[2] = (uint64_t)round;                                                  \
                __VA_ARGS__                                                                        \
            }                                                                                      \
            const double ns = (thread_ns() - start_ns) / LINES;                                    \
            lowest_ns = ns < lowest_ns ? ns : lowest_ns;                                           \
        }                                                                                          \
        return lowest_ns;                                                                          \
    }

#define INCREMENT line->words[0] = atomic_fetch_add_explicit(&number, 1, memory_order_relaxed);
#define COUNTER line->words[1] = GMT_TICKS();

/* clang-format off */
MEASURE(none, __asm__ volatile("" ::: "memory");)
MEASURE(increment, INCREMENT)
MEASURE(counter, COUNTER)
MEASURE(both, INCREMENT COUNTER)
/* clang-format on */

int main(void)
{
    printf("none %.1f increment %.1f counter %.1f both %.1f\n", none(), increment(), counter(),
           both());
    return 0;
}
