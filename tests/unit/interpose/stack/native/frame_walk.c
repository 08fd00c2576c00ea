/* SPDX-License-Identifier: MIT */
/*
 * Tests that the quick walk finds the same frames as an unwinder (here libgcc's). Stacks that the
 * quick walk cannot walk are left to the unwinder.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include "gpumemtrace/compiler.h"
#include "interpose/stack/native/frame_walk.h"
#include "interpose/stack/native/modules.h"
#include "tests/unit/unit_test.h"

#define FRAMES 200

static struct frame_walk walk;
static struct frame_steps steps;
static unsigned walked_count, learned_count;

static int set_up(void **state)
{
    (void)state;
    modules_setup();
    memset(&walk, 0, sizeof walk);
    walked_count = learned_count = 0;
    return 0;
}

static void only_x86_64(void)
{
#ifndef __x86_64__
    print_message("the quick walk is for x86-64 only\n");
    skip();
#endif
}

struct found {
    void **frames;
    int count, limit;
};

static _Unwind_Reason_Code find(struct _Unwind_Context *context, void *argument)
{
    struct found *found = argument;
    void *place = (void *)_Unwind_GetIP(context);
    if (!place || found->count == found->limit)
        return _URC_END_OF_STACK;
    if (found->count >= 0)
        found->frames[found->count] = place;
    found->count++;
    return _URC_NO_REASON;
}

/* Stores the return addresses, beginning in the caller, and returns their number. backtrace() is
   not used, because sanitizers replace it. */
static GMT_NOINLINE int unwind(void **frames)
{
    struct found found = {frames, -1, FRAMES};
    _Unwind_Backtrace(find, &found);
    return found.count;
}

static GMT_NOINLINE int take(void **frames)
{
    int count = frame_walk(&walk, &steps, frames, FRAMES);
    if (count > 0) {
        walked_count++;
        return count;
    }
    count = unwind(frames);
    frame_walk_learn(&walk, frames, count);
    learned_count++;
    return count;
}

/* The first frame of take() is in take() itself. Its second frame and the first of unwind() are
 * both in check(), at different addresses, so the comparison begins behind them. */
static GMT_NOINLINE void check(void)
{
    void *walked[FRAMES], *unwound[FRAMES];
    const int count = take(walked);
    assert_int_equal(count, unwind(unwound) + 1);
    assert_memory_equal(walked + 2, unwound + 1, (size_t)(count - 2) * sizeof *walked);
}

/* --- functions with frames of many shapes, which call each other --- */

static uint64_t seed;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void descend(unsigned depth);

/* These are the registers that a function has to save before it uses them. */
#ifdef __x86_64__
#define SAVED "rbx", "r12", "r13"
#define OTHERS_SAVED "r14", "r15", "rbx", "r12"
#else
#define SAVED "x19", "x20", "x21"
#define OTHERS_SAVED "x22", "x23", "x24", "x25"
#endif

#define KEEP(value) __asm__ volatile("" ::"r"(value) : "memory")

static GMT_NOINLINE void plain(unsigned depth)
{
    descend(depth);
    KEEP(&depth);
}

static GMT_NOINLINE void large(unsigned depth)
{
    char room[5000];
    KEEP(room);
    descend(depth);
    KEEP(room);
}

/* __builtin_frame_address makes the compiler keep a frame pointer. */
static GMT_NOINLINE void framed(unsigned depth)
{
    const void *frame = __builtin_frame_address(0);
    KEEP(frame);
    descend(depth);
    KEEP(frame);
}

static GMT_NOINLINE void busy(unsigned depth)
{
    uint64_t a = next_random(), b = next_random(), c = next_random(), d = next_random();
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d)::SAVED);
    descend(depth);
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d)::SAVED);
}

/* Saves other registers than busy(). */
static GMT_NOINLINE void borrowing(unsigned depth)
{
    __asm__ volatile("" ::: OTHERS_SAVED);
    descend(depth);
    KEEP(depth);
}

static unsigned sorted_depth;

static int compare_once(const void *left, const void *right)
{
    const unsigned depth = sorted_depth;
    sorted_depth = 0;
    if (depth)
        descend(depth);
    return memcmp(left, right, 1);
}

static GMT_NOINLINE void sorted(unsigned depth)
{
    char letters[] = "ba";
    sorted_depth = depth;
    qsort(letters, 2, 1, compare_once);
    KEEP(letters);
}

static void descend(unsigned depth)
{
    static void (*const ways[])(unsigned) = {plain, large, framed, busy, borrowing, sorted};
    if (depth)
        ways[next_random() % (sizeof ways / sizeof *ways)](depth - 1);
    else
        check();
}

TEST_WITH(what_was_found_once_is_walked_from_then_on, set_up, NULL)
{
    only_x86_64();
    for (int turn = 0; turn < 10; turn++) {
        seed = 7; /* the same functions each time */
        descend(20);
    }
    assert_int_equal(learned_count, 1);
    assert_int_equal(walked_count, 9);
}

TEST_WITH(stacks_of_many_shapes_are_what_the_unwinder_finds, set_up, NULL)
{
    only_x86_64();
    seed = 42;
    for (int turn = 0; turn < 20000; turn++)
        descend((unsigned)(next_random() % 24));
    assert_true(walked_count > learned_count * 100);
}

/* The sizes of two nested frames always have the same sum. So the frames that they call keep
   their addresses. The memory between these frames still holds words of the previous round, in
   which the other one of the two lines may have called the inner frame. */
static GMT_NOINLINE void roomy(size_t bytes, size_t next_bytes)
{
    char *room = __builtin_alloca(bytes);
    KEEP(room);
    if (!next_bytes) {
        check();
    } else if (bytes < next_bytes) {
        roomy(next_bytes, 0);
    } else {
        roomy(next_bytes, 0);
        KEEP(next_bytes);
    }
    KEEP(room);
}

TEST_WITH(a_frame_that_moved_between_others_that_did_not_is_noticed, set_up, NULL)
{
    only_x86_64();
    for (size_t turn = 0; turn < 50; turn++) {
        const size_t bytes = 64 * (1 + turn % 7);
        roomy(bytes, 64 * 8 - bytes);
    }
    assert_true(walked_count > 40);
}

TEST_WITH(above_the_confirmed_frames_nothing_is_walked, set_up, NULL)
{
    only_x86_64();
    for (volatile int turn = 0; turn < 4; turn++) { /* one calling line, not unrolled */
        if (turn == 3)
            walk.top = (uintptr_t)__builtin_frame_address(0);
        seed = 7;
        descend(5);
    }
    assert_int_equal(walked_count, 2);
    assert_int_equal(learned_count, 2);
}

/* --- code without unwind table --- */

/* sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
static const uint8_t unknown_code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
                                       0x48, 0x83, 0xc4, 0x08, 0xc3};

static void fixed_way(void)
{
    seed = 3;
    descend(5);
}

TEST_WITH(a_frame_that_no_rule_describes_is_left_to_the_unwinder, set_up, NULL)
{
    only_x86_64();
    typedef void call_function(void (*function)(void));
    enum { BYTES = 4096 };
    void *code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(code != MAP_FAILED);
    memcpy(code, unknown_code, sizeof unknown_code);
    assert_int_equal(mprotect(code, BYTES, PROT_READ | PROT_EXEC), 0);
    for (int turn = 0; turn < 1000; turn++)
        GMT_FUNCTION(call_function *, code)(fixed_way);
    assert_int_equal(walked_count, 0);
    assert_true(walk.failures > 5); /* after many failures, the quick walk is rarely tried */
    munmap(code, BYTES);
}

TEST_WITH(after_such_frames_others_are_walked_again, set_up, NULL)
{
    only_x86_64();
    walk.failures = 3;
    walk.pause = 7;
    for (int turn = 0; turn < 20; turn++)
        fixed_way();
    assert_int_equal(learned_count, 7);
    assert_int_equal(walk.failures, 0);
}

/* --- other stacks --- */

static ucontext_t outside, inside;

static void on_another_stack(void)
{
    for (int turn = 0; turn < 20; turn++) {
        check();
        swapcontext(&inside, &outside);
    }
}

TEST_WITH(a_stack_that_is_switched_to_is_walked_or_unwound, set_up, NULL)
{
    only_x86_64();
    enum { BYTES = 1 << 17 };
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    getcontext(&inside);
    inside.uc_stack = (stack_t){.ss_sp = memory, .ss_size = BYTES};
    inside.uc_link = &outside;
    makecontext(&inside, on_another_stack, 0);
    for (int turn = 0; turn < 20; turn++) {
        seed = 5;
        descend(8);
        swapcontext(&outside, &inside);
    }
    munmap(memory, BYTES);
}

static void handle(int signal)
{
    (void)signal;
    seed = 11;
    descend(4);
}

TEST_WITH(the_stack_of_a_signals_handler_is_left_to_the_unwinder, set_up, NULL)
{
    only_x86_64();
    signal(SIGUSR1, handle);
    for (int turn = 0; turn < 20; turn++)
        raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(walked_count, 0);
}

UNIT_MAIN(NULL, NULL)
