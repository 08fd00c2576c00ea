/* SPDX-License-Identifier: MIT */
/*
 * Walks the native stack of the calling thread quickly: steps from caller to caller by rules that
 * were read once (frame_rules.h) and confirmed by an unwinder. A place without a confirmed rule is
 * left to the unwinder. The thread's last walk saves most of the work:
 *
 *     last walk:   | sp, place, rule | sp, place, rule | …        innermost first, sp grows
 *     this walk:   1. as long as the saved words on the stack are the same: the same steps
 *                  2. behind the first change: step by step; at a known sp and place the rule
 *                     needs no lookup
 *
 * Callable from a hook: no malloc, no waiting for a lock, and system calls only while it learns.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_NATIVE_FRAME_WALK_H
#define GPUMEMTRACE_INTERPOSE_STACK_NATIVE_FRAME_WALK_H

#include <stdint.h>

#include "frame_rules.h"

#define FRAME_STEPS_MAX 528 /* frames of one stack, our own included */

struct frame_step {
    uintptr_t sp, place;
    uintptr_t bp_at; /* where the rbp of this place was saved; 0: it was in the register */
    struct frame_rule rule;
};

/* One for each thread, zero to begin with. */
struct frame_walk {
    uintptr_t top;     /* end of the outermost frame that an unwinder has confirmed */
    unsigned count;    /* of steps[last] */
    unsigned last;     /* steps[last] is the last walk */
    unsigned pause;    /* so many calls do not try: this thread's stack has frames without rules */
    unsigned failures; /* in a row */
};

struct frame_steps {
    struct frame_step steps[2][FRAME_STEPS_MAX];
};

/* Fills frames[limit] with return addresses, the caller's own first, and returns their number. 0:
 * an unwinder has to do it. */
int frame_walk(struct frame_walk *walk, struct frame_steps *steps, void **frames, int limit);

/* After frame_walk returned 0: learns from the frames that the same caller then got from an
 * unwinder. */
void frame_walk_learn(struct frame_walk *walk, void *const *frames, int count);

#endif
