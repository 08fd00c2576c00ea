/* SPDX-License-Identifier: MIT */
/*
 * What the recorder knows of one thread: its number, its ring segment, what it is inside of, the
 * stack it had last. One thread-local pointer, memory from mmap, reused when threads end. It must
 * not know what is recorded.
 *
 * Every function is for the calling thread; callable from a hook (no malloc; a lock only at a
 * thread's first event and at its end).
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_THREAD_H
#define GPUMEMTRACE_INTERPOSE_LIFE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "interpose/stack/frame_walk.h"
#include "trace/record.h"
#include "recorder.h"

#define STACK_DEPTH_MAX 512                        /* frames of one kind */
#define STACK_FRAMES_MAX (2 * STACK_DEPTH_MAX + 2) /* native, Python, labels */
#define STACK_OWN_MAX 8                            /* frames of ours that an unwinder may give */

/* Python frames, innermost first; see python.h. */
#define PYTHON_ITEMS_MAX (2 * STACK_DEPTH_MAX)
#define PYTHON_RUN_END 0
struct python_stack {
    unsigned count, runs; /* items, and how many of them are ends */
    bool whole;           /* up to the outermost frame */
    bool outer;           /* of the interpreter the thread began with, though another may run */
    uint64_t items[PYTHON_ITEMS_MAX];
};

_Static_assert(FRAME_STEPS_MAX > STACK_DEPTH_MAX + STACK_OWN_MAX, "a walk holds any stack");

/* What a stack is put together from, innermost first. */
struct raw_stack {
    unsigned native_count;
    void *native[STACK_DEPTH_MAX + STACK_OWN_MAX]; /* as the unwinder gives it, ours included */
    struct python_stack python;
};

struct thread {
    uint64_t generation; /* of the recording it belongs to, never 0 */
    uint32_t thread_id;
    struct ring_segment *segment; /* NULL: none yet, or given back */
    uint64_t open_guards;     /* calls that this thread is inside of: a bit each, see capture.c */
    uintptr_t outermost_call; /* where on the stack the outermost of them is noted */
    uint32_t open_calls;
    uint16_t call_id; /* of the outermost call it is in */
    uint8_t call_has_children;
    uint8_t in_nvtx; /* inside a forwarding NVTX hook: the injected callback is the same range */

    struct clock clock;
    uint64_t context; /* last context asked about, and its device */
    uint64_t context_epoch;
    int context_device;

    _Atomic bool in_stack; /* taking a stack; see call_stack.c */

    struct thread *next_free;

    /* Of raw[] the last one taken, and its id; 0: none that the next one may be compared with. */
    unsigned raw_last;
    uint32_t raw_id;

    char pool[16]; /* the name of the last pool that reported, if it is short, and its string_id */
    uint32_t pool_id;

    struct frame_walk walk;

    /* The last stack as words of stacks.h, innermost frame first, and the id of each frame: the
     * next stack mostly shares its outer part. */
    uint32_t depth;

    /* What stands from here on is not cleared for a new thread. */
    uint32_t frame_ids[STACK_FRAMES_MAX];
    uint64_t frames[STACK_FRAMES_MAX];

    /* Where a stack is taken and put together: the program's own stack may have little room. */
    struct raw_stack raw[2];
    uint64_t merged[STACK_FRAMES_MAX];
    struct frame_steps steps;

    struct thread *next_all; /* see thread_all */
};

extern _Thread_local struct thread *thread_self GMT_TLS_INITIAL_EXEC;

/* Makes and introduces the calling thread's state; NULL: nothing is recorded, or no memory. */
struct thread *thread_attach(void);

/* NULL: no recording in this process (not started, ended, failed), or no memory. */
static inline struct thread *thread_current(void)
{
    struct thread *thread = thread_self;
    if (GMT_LIKELY(thread && thread->generation == recorder_generation()))
        return thread;
    return thread_attach();
}

/* The next slots in a row of this thread's segment; NULL: counted as lost. */
struct ring_slot *thread_claim(struct thread *thread, unsigned slots);

/* Claims, fills and publishes a definition with a text of up to RECORD_TEXT_MAX bytes. The caller
 * fills `slot` but for type, state and call_id. */
void thread_define(struct thread *thread, enum slot_type type, const struct ring_slot *slot,
                   const char *text, size_t text_bytes);

/* For events that another thread had before the recording began: the number it has, or will get
 * when it comes itself (0: too many such threads), and whose slots follow in this thread's segment.
 */
uint32_t thread_reserve(struct thread *thread, int64_t tid);
void thread_speak_for(struct thread *thread, uint32_t thread_id);

/* Every state there has been in this process, in use or not, through next_all: none is ever given
 * back. Lock-free. */
struct thread *thread_all(void);

/* Once, before the first thread_current that may return one. */
int thread_setup(void);

#endif
