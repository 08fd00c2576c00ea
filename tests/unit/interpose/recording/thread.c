/* SPDX-License-Identifier: MIT */
/*
 * Tests the parts of a thread's memory: each owner has its own bytes in every thread, and these
 * bytes are zero in a new thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interpose/recording/recording.h"
#include "interpose/recording/thread.h"
#include "tests/unit/unit_test.h"

struct small {
    char letter;
};

struct large {
    uint64_t counter;
    char kept[5000]; /* not cleared */
};

static struct thread_part small_part = THREAD_PART(struct small, sizeof(struct small));
static struct thread_part large_part = THREAD_PART(struct large, offsetof(struct large, kept));
static struct thread_part late_part = THREAD_PART(struct small, sizeof(struct small));

static char ring_path[64];

static int set_up(void **state)
{
    struct err err = {0};
    (void)state;
    snprintf(ring_path, sizeof ring_path, "/tmp/gpumemtrace-thread.%ld", (long)getpid());
    if (ring_create(&recording.ring, ring_path, (uint64_t)64 << 20, &err))
        fail_msg("%s", err.message);
    recording_set_live(1);
    return thread_setup();
}

static int tear_down(void **state)
{
    (void)state;
    recording_set_live(0);
    ring_release(&recording.ring);
    unlink(ring_path);
    return 0;
}

static void *use_parts(void *argument)
{
    struct thread **seen = argument;
    struct thread *thread = *seen = thread_current();
    struct small *small = thread_part(thread, &small_part);
    struct large *large = thread_part(thread, &large_part);
    const uintptr_t wrong = small->letter || large->counter;
    small->letter = 'x';
    large->counter = UINT64_MAX;
    memset(large->kept, 'y', sizeof large->kept);
    return (void *)wrong;
}

static struct thread *run_thread(void)
{
    pthread_t other;
    struct thread *seen = NULL;
    void *wrong;
    assert_int_equal(pthread_create(&other, NULL, use_parts, &seen), 0);
    assert_int_equal(pthread_join(other, &wrong), 0);
    assert_null(wrong);
    return seen;
}

TEST_WITH(a_new_thread_finds_its_parts_cleared_though_another_had_its_memory, set_up, tear_down)
{
    struct thread *first = run_thread(), *second = run_thread();
    assert_non_null(first);
    assert_ptr_equal(first, second);
    const struct large *large = thread_part(second, &large_part);
    assert_int_equal(large->kept[0], 'y');
}

TEST_WITH(parts_do_not_overlap_each_other_or_the_thread, set_up, tear_down)
{
    struct thread *thread = thread_current();
    const uint32_t thread_id = thread->thread_id;
    struct small *small = thread_part(thread, &small_part);
    struct large *large = thread_part(thread, &large_part);
    assert_int_equal((uintptr_t)small % _Alignof(max_align_t), 0);
    assert_int_equal((uintptr_t)large % _Alignof(max_align_t), 0);
    memset(large, 1, sizeof *large);
    small->letter = 'z';
    assert_int_equal(large->counter, UINT64_C(0x0101010101010101));
    assert_int_equal(large->kept[sizeof large->kept - 1], 1);
    memset(large, 0, sizeof *large);
    assert_int_equal(small->letter, 'z');
    assert_ptr_equal(thread_current(), thread);
    assert_int_equal(thread->thread_id, thread_id);
    assert_ptr_equal(thread_part(thread, &small_part), small);
}

TEST_WITH(a_part_of_a_thread_that_has_begun_already_is_zero_as_well, set_up, tear_down)
{
    struct thread *thread = thread_current();
    const struct small *late = thread_part(thread, &late_part);
    assert_int_equal(late->letter, 0);
}

TEST_WITH(a_recording_that_ends_leaves_no_thread_and_the_next_one_starts_afresh, set_up, tear_down)
{
    struct thread *thread = thread_current();
    struct small *small = thread_part(thread, &small_part);
    small->letter = 'x';
    recording_set_live(0);
    assert_null(thread_current());
    recording_set_live(2);
    assert_ptr_equal(thread_current(), thread);
    assert_int_equal(small->letter, 0);
    recording_set_live(1);
}

UNIT_MAIN(NULL, NULL)
