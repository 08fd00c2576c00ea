/* SPDX-License-Identifier: MIT */
/*
 * The stack of the call that is being captured: Python and native frames of the calling thread in
 * their true order, as one number. It must not know what the call is.
 *
 *     innermost   libcudart, ctypes …                native, what Python called
 *                 inner, outer                       Python: what this run of the loop executes
 *                 _PyEval_EvalFrameDefault           native: the loop itself, and what called it
 *                 qsort, ctypes …                    native, what Python called
 *                 sorted_by, <module>                Python
 *                 _PyEval_EvalFrameDefault, main …   native
 *
 * Where the loop cannot be told from other code, or has no frame of its own, the Python frames come
 * first, then a label that says so, then the native frames.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_TAKE_CALL_STACK_H
#define GPUMEMTRACE_INTERPOSE_STACK_TAKE_CALL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/recording/thread.h"

/* Before a trace starts. kind: the setting stacks: all, python, native or none. */
void call_stack_setup(const char *kind);
/* Of the engine that takes native stacks; valid from then on. */
const char *call_stack_unwinder_name(void);

/* Around a fork: no other thread takes a stack meanwhile. */
void call_stack_before_fork(void);
void call_stack_after_fork(bool in_child);

/* The frame_id of the calling thread's innermost frame that is not ours; 0: no stack. Callable from
 * a hook: no malloc, a lock only for what was not seen before; not a place to be cancelled at. Of a
 * signal handler that comes here inside: 0. */
uint32_t call_stack_take(struct thread *thread);

#endif
