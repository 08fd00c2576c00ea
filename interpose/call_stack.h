/* SPDX-License-Identifier: MIT */
/*
 * The stack of the call that is being captured. It must not know what the call is.
 */
#ifndef GPUMEMTRACE_INTERPOSE_CALL_STACK_H
#define GPUMEMTRACE_INTERPOSE_CALL_STACK_H

#include <stdint.h>

#include "thread.h"

/* The frame_id of the calling thread's innermost frame that is not ours; 0: no stack. Callable from
 * a hook: no lock, no malloc; not a place to be cancelled at. */
uint32_t call_stack_take(struct thread *thread);

#endif
