/* SPDX-License-Identifier: MIT */
/* run_end_was_oom_kill tells a kill by the kernel, for lack of host memory, from any other end. */
#include <signal.h>

#include "analyzer/run/run_end.h"
#include "tests/unit/unit_test.h"

TEST(a_kill_while_the_kernel_counted_one_more_was_the_kernels)
{
    assert_true(run_end_was_oom_kill(SIGKILL, 0, 1));
    assert_true(run_end_was_oom_kill(SIGKILL, 7, 9));
}

TEST(any_other_end_was_not)
{
    assert_false(run_end_was_oom_kill(SIGKILL, 7, 7));
    assert_false(run_end_was_oom_kill(SIGTERM, 0, 1));
    assert_false(run_end_was_oom_kill(0, 0, 1));
}

TEST(a_kernel_that_does_not_count_tells_nothing)
{
    assert_false(run_end_was_oom_kill(SIGKILL, UINT64_MAX, UINT64_MAX));
    assert_false(run_end_was_oom_kill(SIGKILL, UINT64_MAX, 1));
    assert_false(run_end_was_oom_kill(SIGKILL, 0, UINT64_MAX));
}

UNIT_MAIN(NULL, NULL)
