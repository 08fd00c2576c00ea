/* SPDX-License-Identifier: MIT */
/*
 * Takes the stack of a hooked call, and returns it as one number. A stack has the native frames of
 * the calling thread and the frames of the sources, in the order that merge.h draws.
 */
#pragma once

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

/* Returns the frame_id of the calling thread's innermost frame that is not ours. 0: no stack was
 * taken, for example because a signal handler interrupted this function. Callable from a hook: it
 * calls no malloc, takes a lock only for frames or objects not seen before, and is no cancellation
 * point. */
uint32_t call_stack_take(struct thread *thread);
