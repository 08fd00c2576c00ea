/* SPDX-License-Identifier: MIT */
/*
 * The stack of a call: what the unwinder gives, less our own frames, as a number. See call_stack.h.
 */
#include "call_stack.h"

#include <pthread.h>

#include "modules.h"
#include "recorder.h"
#include "stacks.h"
#include "unwind.h"

uint32_t call_stack_take(struct thread *thread)
{
    void *frames[STACK_DEPTH_MAX + 8];
    const int own_frames_max = 8;
    const struct unwinder *unwinder = recorder_unwinder();
    const int limit = (int)recorder.config.depth + own_frames_max;
    int own = 0, cancel_state;
    /* libunwind's cold path reads from a pipe, which must not become a place to be cancelled at. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    int depth = unwinder->backtrace(frames, limit);
    pthread_setcancelstate(cancel_state, NULL);
    while (own < depth && modules_is_own(frames[own]))
        own++;
    if (depth - own > (int)recorder.config.depth)
        depth = own + (int)recorder.config.depth;
    return depth > own ? stacks_intern(thread, frames + own, (uint32_t)(depth - own)) : 0;
}
