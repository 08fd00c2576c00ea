/* SPDX-License-Identifier: MIT */
/*
 * The stack of a hooked call as one number: the native frames of the calling thread and those of
 * the sources in one order (merge.h draws it).
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_TAKE_CALL_STACK_H
#define GPUMEMTRACE_INTERPOSE_STACK_TAKE_CALL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/recording/thread.h"
#include "stack_parts.h"

/* Copies *parts. Call it before a trace starts. */
void call_stack_setup(const struct stack_parts *parts);
const char *call_stack_unwinder_name(void);

/* Called around a fork, so that no other thread takes a stack meanwhile. */
void call_stack_before_fork(void);
void call_stack_after_fork(bool in_child);

/* The frame_id of the calling thread's innermost frame that is not ours; 0: no stack (for example,
 * a signal handler interrupted this function). Callable from a hook: no malloc, a lock only for
 * frames or objects not seen before, no cancellation point. */
uint32_t call_stack_take(struct thread *thread);

#endif
