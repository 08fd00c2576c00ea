/* SPDX-License-Identifier: MIT */
/*
 * Starts a recording in this process, without a driver. It tests that every owner of a part of a
 * thread's memory reserves its part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "interpose/cuda/device.h"
#include "interpose/life/end.h"
#include "interpose/life/start.h"
#include "interpose/recording/recording.h"
#include "interpose/recording/thread.h"
#include "interpose/report/pool.h"
#include "tests/unit/unit_test.h"

static char trace_path[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(trace_path, sizeof trace_path, "/tmp/gpumemtrace-start.%ld.db", (long)getpid());
    setenv("GPUMEMTRACE_OUTPUT", trace_path, 1);
    setenv("GPUMEMTRACE_QUIET", "1", 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    recording_end();
    unlink(trace_path);
    return 0;
}

TEST(all_parts_of_a_thread_have_room)
{
    assert_true(recording_start());
    pool_alloc("a pool", 0, 0x1000, 64, 0);
    pool_free("a pool", 0, 0x1000);
    device_current(thread_current());
    assert_int_equal(recording.seq, 2);
    assert_in_range(thread_parts_bytes(), sizeof(struct thread) + 1, THREAD_BYTES);
}

TEST(a_second_start_does_nothing)
{
    assert_false(recording_start());
}

UNIT_MAIN(set_up, tear_down)
