/* SPDX-License-Identifier: MIT */
/*
 * The native stack of the calling thread, quickly: places in the code whose callers an unwinder has
 * found before are stepped over by rules read once (frame_rules.h), and mostly where the last stack
 * of the thread had them. What an unwinder has not confirmed yet is left to it.
 *
 *     last walk:   | sp, place, rule | sp, place, rule | …        innermost first, sp grows
 *     this walk:     other place         same sp and place: its rule, no lookup
 *
 * Callable from a hook: no malloc, no lock (but a try) and no system call but where it learns.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_NATIVE_FRAME_WALK_H
#define GPUMEMTRACE_INTERPOSE_STACK_NATIVE_FRAME_WALK_H

#include <stdint.h>

#include "frame_rules.h"

#define FRAME_STEPS_MAX 528 /* frames of one stack, ours included */

struct frame_step {
    uintptr_t sp, place;
    struct frame_rule rule;
};

/* A thread's own; all zero to begin with, but for the steps. */
struct frame_walk {
    uintptr_t top;     /* where the outermost frame that an unwinder has confirmed ends */
    unsigned count;    /* of steps[last] */
    unsigned last;     /* which of both is the last walk's */
    unsigned pause;    /* calls that do not try: what is on this thread's stack has no rules */
    unsigned failures; /* in a row */
};

struct frame_steps {
    struct frame_step steps[2][FRAME_STEPS_MAX];
};

/* Return addresses, innermost first, the caller's own first; 0: an unwinder has to do it. */
int frame_walk(struct frame_walk *walk, struct frame_steps *steps, void **frames, int limit);

/* After frame_walk gave 0 to the same caller: what an unwinder called by it has found. */
void frame_walk_learn(struct frame_walk *walk, void *const *frames, int count);

#endif
