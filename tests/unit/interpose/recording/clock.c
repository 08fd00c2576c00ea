/* SPDX-License-Identifier: MIT */
/*
 * Tests that a reading of the thread's clock lies between two readings of the kernel's clock, one
 * before and one after it, also if the thread is interrupted after it has asked the kernel.
 */
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interpose/recording/clock.h"
#include "tests/unit/unit_test.h"

#define DRIFT_NS 10000u
#define INTERRUPTION_US 2000

static unsigned long interrupt_every; /* of the calls that the clock makes; 0: none */
static bool is_asked_by_the_clock;

/* Stands in for the C library's function. Every interrupt_every-th call by the clock is late. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static unsigned long calls;
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (interrupt_every && is_asked_by_the_clock && ++calls % interrupt_every == 0)
        usleep(INTERRUPTION_US);
    return result;
}

static void use_for_a_while(unsigned long every)
{
    struct clock clock = {0};
    uint64_t start, before, now, after;
    interrupt_every = every;
    is_asked_by_the_clock = true;
    clock_setup();
    is_asked_by_the_clock = false;
    start = clock_kernel_ns();
    do {
        before = clock_kernel_ns();
        is_asked_by_the_clock = true;
        now = clock_now_ns(&clock);
        is_asked_by_the_clock = false;
        after = clock_kernel_ns();
        assert_true(now + DRIFT_NS >= before);
        assert_true(now <= after + DRIFT_NS);
    } while (after - start < 30000000u);
    interrupt_every = 0;
}

TEST(it_tells_the_kernels_time_for_as_long_as_it_is_used)
{
    use_for_a_while(0);
    use_for_a_while(1);
    use_for_a_while(2);
}

TEST(a_thread_that_comes_late_starts_with_the_kernels_time)
{
    struct clock late = {0};
    const uint64_t before = clock_kernel_ns(), now = clock_now_ns(&late);
    assert_true(now >= before);
    assert_true(now <= clock_kernel_ns());
}

UNIT_MAIN(NULL, NULL)
