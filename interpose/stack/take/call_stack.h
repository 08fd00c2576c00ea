/* SPDX-License-Identifier: MIT */
/*
 * The stack of the call that is being recorded: the native frames of the calling thread and those
 * of the sources in one order (merge.h draws it), as one number. It must not know what the call is,
 * nor which sources there are.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_TAKE_CALL_STACK_H
#define GPUMEMTRACE_INTERPOSE_STACK_TAKE_CALL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/recording/thread.h"
#include "stack_parts.h"

/* Before a trace starts. Copies *parts. */
void call_stack_setup(const struct stack_parts *parts);
const char *call_stack_unwinder_name(void);

/* Around a fork: no other thread takes a stack meanwhile. */
void call_stack_before_fork(void);
void call_stack_after_fork(bool in_child);

/* The frame_id of the calling thread's innermost frame that is not ours; 0: no stack, as in a
 * signal handler that interrupted this very function. Callable from a hook: no malloc, and a lock
 * only for what was not seen before; no cancellation point. */
uint32_t call_stack_take(struct thread *thread);

#endif
