/* SPDX-License-Identifier: MIT */
/*
 * Tests the tree of frames: equal stacks have one id, a record is written before its id is given
 * out, and several threads can insert at once.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/stack/native/limits.h"
#include "interpose/stack/native/modules.h"
#include "interpose/recording/recording.h"
#include "interpose/stack/take/frame_tree.h"
#include "tests/unit/unit_test.h"

static char ring_path[64];

static struct thread *new_thread(uint32_t thread_id)
{
    struct thread *thread = calloc(1, THREAD_BYTES);
    assert_non_null(thread);
    thread->thread_id = thread_id;
    return thread;
}

static int set_up(void **state)
{
    struct err err = {0};
    (void)state;
    snprintf(ring_path, sizeof ring_path, "/tmp/gpumemtrace-stacks.%ld", (long)getpid());
    if (ring_create(&recording.ring, ring_path, (uint64_t)256 << 20, &err))
        fail_msg("%s", err.message);
    modules_setup();
    return frame_tree_setup();
}

static int tear_down(void **state)
{
    (void)state;
    ring_release(&recording.ring);
    unlink(ring_path);
    return 0;
}

/* Fills in addresses that look like code, innermost first. */
static void make_stack(uint64_t *frames, int depth, uint64_t leaf)
{
    for (int i = 0; i < depth; i++)
        frames[i] = 0x400000 + (uint64_t)(depth - i) * 16;
    frames[0] = leaf;
}

/* Finds the FRAME record with this id in any segment. Returns false if there is none. */
static bool find_record(uint32_t id, struct ring_slot *found)
{
    for (uint32_t s = 0; s < ring_segment_count(&recording.ring); s++) {
        const struct ring_segment *segment = ring_segment(&recording.ring, s);
        for (uint32_t i = 0; i < segment->head; i++) {
            const struct ring_slot *slot = &segment->slots[i];
            if (slot->type == SLOT_FRAME && slot->seq == id) {
                memcpy(found, slot, sizeof *found);
                return true;
            }
        }
    }
    return false;
}

static uint32_t intern(struct thread *thread, const uint64_t *frames, uint32_t depth)
{
    bool is_whole = false;
    const uint32_t id = frame_tree_intern(thread, frames, depth, &is_whole);
    assert_true(is_whole);
    return id;
}

static uint32_t depth_of(uint32_t id)
{
    uint32_t depth = 0;
    struct ring_slot record;
    for (; id && find_record(id, &record); id = record.stack_id)
        depth++;
    return depth;
}

TEST_WITH(the_same_stack_has_the_same_id_and_another_has_not, set_up, tear_down)
{
    struct thread *thread = new_thread(1);
    uint64_t first[12], second[12];
    make_stack(first, 12, 0x500000);
    make_stack(second, 12, 0x600000);
    const uint32_t a = intern(thread, first, 12);
    const uint32_t b = intern(thread, second, 12);
    assert_int_not_equal(a, 0);
    assert_int_not_equal(a, b);
    assert_int_equal(intern(thread, first, 12), a);
    assert_int_equal(intern(thread, second, 12), b);
    assert_int_not_equal(intern(thread, first + 1, 11), a);
    free(thread);
}

TEST_WITH(a_stack_can_be_read_back_from_the_records, set_up, tear_down)
{
    struct thread *thread = new_thread(1);
    uint64_t frames[30];
    make_stack(frames, 30, 0x500000);
    uint32_t id = intern(thread, frames, 30);
    for (int i = 0; i < 30; i++) {
        struct ring_slot record;
        assert_true(find_record(id, &record));
        assert_int_equal(record.address, frames[i]);
        id = record.stack_id;
    }
    assert_int_equal(id, 0);
    free(thread);
}

TEST_WITH(another_thread_gets_the_same_ids, set_up, tear_down)
{
    struct thread *one = new_thread(1), *two = new_thread(2);
    uint64_t frames[20];
    make_stack(frames, 20, 0x500000);
    assert_int_equal(intern(one, frames, 20), intern(two, frames, 20));
    free(one);
    free(two);
}

TEST_WITH(a_deeper_stack_than_the_limit_keeps_its_outermost_part_out, set_up, tear_down)
{
    struct thread *thread = new_thread(1);
    static uint64_t frames[STACK_FRAMES_MAX + 100];
    make_stack(frames, STACK_FRAMES_MAX + 100, 0x500000);
    const uint32_t id = intern(thread, frames, STACK_FRAMES_MAX + 100);
    assert_int_equal(depth_of(id), STACK_FRAMES_MAX);
    free(thread);
}

#define RACERS 4
#define RACE_STACKS 3000

static uint32_t race_ids[RACERS][RACE_STACKS];

static void *race(void *argument)
{
    const int racer = (int)(intptr_t)argument;
    struct thread *thread = new_thread((uint32_t)racer + 1);
    uint64_t frames[16];
    for (int i = 0; i < RACE_STACKS; i++) {
        make_stack(frames, 16, 0x700000 + (uint64_t)i);
        race_ids[racer][i] = intern(thread, frames, 16);
    }
    free(thread);
    return NULL;
}

TEST_WITH(threads_that_meet_agree_on_every_id, set_up, tear_down)
{
    pthread_t threads[RACERS];
    for (int i = 0; i < RACERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race, (void *)(intptr_t)i), 0);
    for (int i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < RACE_STACKS; i++)
        for (int racer = 1; racer < RACERS; racer++)
            assert_int_equal(race_ids[racer][i], race_ids[0][i]);
}

UNIT_MAIN(NULL, NULL)
