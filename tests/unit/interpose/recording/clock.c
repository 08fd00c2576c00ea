/* SPDX-License-Identifier: MIT */
/*
 * Tests that a reading of the thread's clock lies between two readings of the kernel's clock, one
 * before and one after it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interpose/recording/clock.h"

#define DRIFT_NS 10000u

static void it_tells_the_kernels_time_for_as_long_as_it_is_used(void **state)
{
    struct clock clock = {0};
    uint64_t start, before, now, after;
    (void)state;
    clock_setup();
    start = clock_kernel_ns();
    do {
        before = clock_kernel_ns();
        now = clock_now_ns(&clock);
        after = clock_kernel_ns();
        assert_true(now + DRIFT_NS >= before);
        assert_true(now <= after + DRIFT_NS);
    } while (after - start < 30000000u);
}

static void a_thread_that_comes_late_starts_with_the_kernels_time(void **state)
{
    struct clock late = {0};
    const uint64_t before = clock_kernel_ns(), now = clock_now_ns(&late);
    (void)state;
    assert_true(now >= before);
    assert_true(now <= clock_kernel_ns());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_tells_the_kernels_time_for_as_long_as_it_is_used),
        cmocka_unit_test(a_thread_that_comes_late_starts_with_the_kernels_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
