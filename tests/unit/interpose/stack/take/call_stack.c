/* SPDX-License-Identifier: MIT */
/*
 * Tests how native and Python frames are merged into one stack. Made-up frames replace those of the
 * unwinder and of the interpreter.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/recording/recording.h"
#include "interpose/recording/string_ids.h"
#include "interpose/stack/native/modules.h"
#include "interpose/stack/take/call_stack.h"
#include "tests/unit/unit_test.h"

#define LOOP 0x10000   /* address of the interpreter loop, which has 256 bytes */
#define ENGINE 0x20000 /* address of the engine of autograd, which has 256 bytes */
#define END SOURCE_RUN_END

static uintptr_t native[STACK_DEPTH_MAX];
static unsigned native_count;
static uint64_t python[STACK_DEPTH_MAX];
static unsigned python_count;
static bool python_is_outer;
static struct code_ranges loop_code;
static struct labelled_code engine;

static struct thread *thread;
static uint32_t id_taken_inside;

static void made_up_setup(void)
{
}

static bool made_up_meet(const struct dl_phdr_info *info)
{
    (void)info;
    return false;
}

static bool made_up_is_settled(void)
{
    return true;
}

static void made_up_walk(struct thread *walked, struct source_frames *frames, unsigned limit)
{
    id_taken_inside = call_stack_take(walked);
    frames->count = frames->run_count = 0;
    frames->whole = true;
    frames->outer = python_is_outer;
    for (unsigned i = 0; i < python_count && frames->count - frames->run_count < limit; i++) {
        frames->items[frames->count++] =
            python[i] == END ? END : frame_word(FRAME_PYTHON, python[i]);
        frames->run_count += python[i] == END;
    }
}

static const struct code_ranges *made_up_loop(void)
{
    return &loop_code;
}

static int made_up_backtrace(void **frames, int limit)
{
    unsigned count = 0;
    for (; count < native_count && count < (unsigned)limit; count++)
        frames[count] = (void *)native[count];
    return (int)count;
}

static const struct unwinder made_up_unwinder = {"made up", made_up_backtrace};

static struct stack_source made_up_source = {
    .name = "made up",
    .unplaced_label = "unplaced",
    .setup = made_up_setup,
    .meet = made_up_meet,
    .is_settled = made_up_is_settled,
    .walk = made_up_walk,
    .loop = made_up_loop,
};

static void take_from_these(unsigned depth)
{
    call_stack_setup(&(struct stack_parts){.unwinder = &made_up_unwinder,
                                           .sources = {&made_up_source},
                                           .source_count = 1,
                                           .label = &engine,
                                           .depth = depth});
}

/* --- writing and reading stacks --- */

#define NATIVE(...)                                                                                \
    (native_count = sizeof((uintptr_t[]){__VA_ARGS__}) / sizeof(uintptr_t),                        \
     memcpy(native, (uintptr_t[]){__VA_ARGS__}, sizeof((uintptr_t[]){__VA_ARGS__})))
#define PYTHON(...)                                                                                \
    (python_count = sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                          \
     memcpy(python, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__})))

static char ring_path[64];

static int set_up(void **state)
{
    struct err err = {0};
    (void)state;
    snprintf(ring_path, sizeof ring_path, "/tmp/gpumemtrace-call-stack.%ld", (long)getpid());
    if (ring_create(&recording.ring, ring_path, (uint64_t)64 << 20, &err))
        fail_msg("%s", err.message);
    modules_setup();
    strings_setup();
    thread = calloc(1, THREAD_BYTES);
    assert_non_null(thread);
    loop_code = (struct code_ranges){1, {{LOOP, 256}}};
    made_up_source.loop = made_up_loop;
    engine = (struct labelled_code){"thread_main", "backward", {1, {{ENGINE, 256}}}, false};
    take_from_these(128);
    python_is_outer = false;
    native_count = python_count = 0;
    return frame_tree_setup();
}

static int tear_down(void **state)
{
    (void)state;
    free(thread);
    ring_release(&recording.ring);
    unlink(ring_path);
    return 0;
}

/* Returns the FRAME record with this id, or NULL if there is none. */
static const struct ring_slot *record_of(uint32_t id)
{
    for (uint32_t s = 0; s < ring_segment_count(&recording.ring); s++) {
        const struct ring_segment *segment = ring_segment(&recording.ring, s);
        for (uint32_t i = 0; i < segment->head; i++)
            if (segment->slots[i].type == SLOT_FRAME && segment->slots[i].seq == id)
                return &segment->slots[i];
    }
    return NULL;
}

/* Takes a stack and prints it, innermost frame first. "n1000 p7 L n1010" has native addresses in
 * hex, a Python location and a label. */
static const char *taken(void)
{
    static char text[8192];
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t id = call_stack_take(thread); id;) {
        const struct ring_slot *record = record_of(id);
        assert_non_null(record);
        const char *space = used ? " " : "";
        const unsigned long address = (unsigned long)record->address;
        if (record->memory == FRAME_LABEL)
            used += (size_t)snprintf(text + used, sizeof text - used, "%sL", space);
        else
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     record->memory == FRAME_NATIVE ? "%sn%lx" : "%sp%lu", space,
                                     address);
        id = record->stack_id;
    }
    return text;
}

/* --- tests --- */

TEST_WITH(python_frames_stand_before_the_loop_that_ran_them, set_up, tear_down)
{
    NATIVE(0x1000, LOOP + 8, 0x1010, 0x1020, LOOP + 16, 0x1030);
    PYTHON(1, 2, END, 3, END);
    assert_string_equal(taken(), "n1000 p1 p2 n10008 n1010 n1020 p3 n10010 n1030");
}

TEST_WITH(a_loop_whose_frame_has_just_ended_takes_no_frame_of_another, set_up, tear_down)
{
    NATIVE(0x1000, LOOP + 8, 0x1010, LOOP + 16);
    PYTHON(END, 3, END);
    assert_string_equal(taken(), "n1000 n10008 n1010 p3 n10010");
}

TEST_WITH(python_beyond_the_unwinders_end_comes_last, set_up, tear_down)
{
    NATIVE(0x1000, LOOP + 8, 0x1010);
    PYTHON(1, END, 2, 3, END);
    assert_string_equal(taken(), "n1000 p1 n10008 n1010 p2 p3");
}

TEST_WITH(outer_loops_of_another_interpreter_stay_without_frames, set_up, tear_down)
{
    NATIVE(0x1000, LOOP + 8, 0x1010, LOOP + 16);
    PYTHON(1, END);
    assert_string_equal(taken(), "n1000 p1 n10008 n1010 n10010");
}

TEST_WITH(inner_loops_of_another_interpreter_stay_without_frames_where_these_are_outer, set_up,
          tear_down)
{
    python_is_outer = true;
    NATIVE(0x1000, LOOP + 8, 0x1010, LOOP + 16);
    PYTHON(1, END);
    assert_string_equal(taken(), "n1000 n10008 n1010 p1 n10010");
}

TEST_WITH(an_unknown_loop_gives_two_blocks_and_a_label_between, set_up, tear_down)
{
    loop_code.count = 0;
    NATIVE(0x1000, LOOP + 8, 0x1010);
    PYTHON(1, 2, END);
    assert_string_equal(taken(), "p1 p2 L n1000 n10008 n1010");
}

TEST_WITH(frames_of_a_source_without_a_loop_are_the_outermost, set_up, tear_down)
{
    made_up_source.loop = NULL;
    NATIVE(0x1000, LOOP + 8, 0x1010);
    PYTHON(1, 2, END);
    assert_string_equal(taken(), "n1000 n10008 n1010 p1 p2");
}

TEST_WITH(a_loop_too_few_down_to_the_start_of_the_thread_gives_two_blocks_too, set_up, tear_down)
{
    const uintptr_t libc = (uintptr_t) __extension__(void *) qsort;
    char expected[128];
    NATIVE(0x1000, LOOP + 8, 0x1010, libc);
    PYTHON(1, END, 2, END);
    snprintf(expected, sizeof expected, "p1 p2 L n1000 n10008 n1010 n%lx", (unsigned long)libc);
    assert_string_equal(taken(), expected);
}

TEST_WITH(without_python_frames_the_engine_of_autograd_is_followed_by_a_label, set_up, tear_down)
{
    atomic_store(&engine.is_found, true);
    NATIVE(0x1000, 0x1008, ENGINE + 8, 0x1010);
    assert_string_equal(taken(), "n1000 n1008 n20008 L n1010");
}

TEST_WITH(the_engine_called_by_a_python_line_needs_no_label, set_up, tear_down)
{
    atomic_store(&engine.is_found, true);
    NATIVE(0x1000, ENGINE + 8, 0x1010, LOOP + 8, 0x1018);
    PYTHON(1, END);
    assert_string_equal(taken(), "n1000 n20008 n1010 p1 n10008 n1018");
}

TEST_WITH(python_called_by_the_engine_stands_inside_its_label, set_up, tear_down)
{
    atomic_store(&engine.is_found, true);
    NATIVE(0x1000, LOOP + 8, 0x1008, ENGINE + 8, 0x1010);
    PYTHON(1, END);
    assert_string_equal(taken(), "n1000 p1 n10008 n1008 n20008 L n1010");
}

TEST_WITH(each_kind_has_the_limit_to_itself, set_up, tear_down)
{
    take_from_these(2);
    NATIVE(0x1000, 0x1008, LOOP + 8, 0x1010);
    PYTHON(1, 2, 3, END);
    assert_string_equal(taken(), "n1000 n1008 p1 p2");
}

TEST_WITH(the_same_stack_has_the_same_id_and_another_outer_part_has_not, set_up, tear_down)
{
    NATIVE(0x1000, LOOP + 8, 0x1010);
    PYTHON(1, 2, END);
    const uint32_t id = call_stack_take(thread);
    assert_int_equal(call_stack_take(thread), id);
    PYTHON(1, 3, END);
    assert_int_not_equal(call_stack_take(thread), id);
    PYTHON(1, 2, END);
    assert_int_equal(call_stack_take(thread), id);
}

TEST_WITH(a_call_inside_taking_a_stack_gets_none, set_up, tear_down)
{
    NATIVE(0x1000);
    id_taken_inside = 1;
    assert_int_not_equal(call_stack_take(thread), 0);
    assert_int_equal(id_taken_inside, 0);
}

static void *begin_thread(void *unused)
{
    (void)unused;
    return thread_current();
}

/* A fork handler must not be the first to reserve the part of a thread's memory, because that
   takes a lock, and the thread that holds this lock may not exist in the child. This is the first
   test, because taking a stack reserves the part. */
TEST_WITH(the_handlers_of_a_fork_are_not_the_first_to_use_the_part_of_a_thread, set_up, tear_down)
{
    pthread_t other;
    void *begun;
    assert_int_equal(thread_setup(), 0);
    recording_set_live(1);
    assert_int_equal(pthread_create(&other, NULL, begin_thread, NULL), 0);
    assert_int_equal(pthread_join(other, &begun), 0);
    recording_set_live(0);
    assert_ptr_equal(thread_all(), begun);
    assert_non_null(begun);
    const size_t used_bytes = thread_parts_bytes();
    call_stack_before_fork();
    call_stack_after_fork(true);
    assert_int_equal(thread_parts_bytes(), used_bytes);
}

UNIT_MAIN(NULL, NULL)
