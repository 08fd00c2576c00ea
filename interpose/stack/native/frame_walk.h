/* SPDX-License-Identifier: MIT */
/*
 * Walks the native stack of the calling thread quickly. It steps from caller to caller by rules
 * that were read once (frame_rules.h) and confirmed by an unwinder. If a place has no confirmed
 * rule, the unwinder takes the stack. The thread's last walk saves most of the work:
 *
 *     last walk:   | sp, place, rule | sp, place, rule | …        innermost first, sp grows
 *     this walk:   1. while the saved words on the stack are unchanged: the same steps
 *                  2. after the first change: step by step; a known sp and place give the rule
 *                     without a lookup
 *
 * Callable from a hook: no malloc, no waiting for a lock, and system calls only while it learns.
 */
#pragma once

#include <stdint.h>

#include "frame_rules.h"

#define FRAME_STEPS_MAX 528 /* most frames of one stack, including our own */

struct frame_step {
    uintptr_t sp, place;
    uintptr_t bp_at; /* address where the rbp of this frame was saved; 0: it was in the register */
    struct frame_rule rule;
};

/* Each thread has one such struct, which starts as all zero. */
struct frame_walk {
    uintptr_t top;     /* end of the outermost frame that an unwinder has confirmed */
    unsigned count;    /* number of steps in steps[last] */
    unsigned last;     /* index of the last walk in steps */
    unsigned pause;    /* number of calls that skip the walk, because frames lack rules */
    unsigned failures; /* number of failures in a row */
};

struct frame_steps {
    struct frame_step steps[2][FRAME_STEPS_MAX];
};

/* Fills frames[limit] with return addresses, the caller's own first, and returns their number. 0:
 * the caller must use an unwinder. */
int frame_walk(struct frame_walk *walk, struct frame_steps *steps, void **frames, int limit);

/* Learns the rules of these frames. Call it after frame_walk returned 0, with the frames that an
 * unwinder found for the same caller. */
void frame_walk_learn(struct frame_walk *walk, void *const *frames, int count);
