/* SPDX-License-Identifier: MIT */
/* run_end_was_oom_kill tells a kill by the kernel, for lack of host memory, from any other end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>

#include "analyzer/run/run_end.h"

static void a_kill_while_the_kernel_counted_one_more_was_the_kernels(void **state)
{
    (void)state;
    assert_true(run_end_was_oom_kill(SIGKILL, 0, 1));
    assert_true(run_end_was_oom_kill(SIGKILL, 7, 9));
}

static void any_other_end_was_not(void **state)
{
    (void)state;
    assert_false(run_end_was_oom_kill(SIGKILL, 7, 7));
    assert_false(run_end_was_oom_kill(SIGTERM, 0, 1));
    assert_false(run_end_was_oom_kill(0, 0, 1));
}

static void a_kernel_that_does_not_count_tells_nothing(void **state)
{
    (void)state;
    assert_false(run_end_was_oom_kill(SIGKILL, UINT64_MAX, UINT64_MAX));
    assert_false(run_end_was_oom_kill(SIGKILL, UINT64_MAX, 1));
    assert_false(run_end_was_oom_kill(SIGKILL, 0, UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_while_the_kernel_counted_one_more_was_the_kernels),
        cmocka_unit_test(any_other_end_was_not),
        cmocka_unit_test(a_kernel_that_does_not_count_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
