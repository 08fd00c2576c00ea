/* SPDX-License-Identifier: MIT */
/*
 * The program's call to backward that backward's memory belongs to. Backward runs on threads
 * without a line of the program. But first, PyTorch makes the gradient of the loss on the thread
 * that called backward (_make_grads). The call is over when that thread allocates for anything
 * else.
 *
 *     thread 1   _make_grads, stack A ─┐                       ┌─ alloc, stack B: call 1 is over
 *     thread 2                         └ allocs of call 1 ─────┘
 *
 * The stacks of the last BACKWARDS_KEPT calls are kept.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_PHASE_BACKWARDS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_PHASE_BACKWARDS_H

#include "analyzer/replay/history/cursor.h"
#include "inferred.h"

/* The current event allocates on a thread of the program: a call may begin or be over. */
int backwards_note(const struct cursor *at, const struct inferred *inferred);

/* The stack of the call that runs; 0: none. */
static inline uint32_t backwards_open_stack(const struct history *history)
{
    const struct backwards *backwards = &history->backwards;
    return backwards->open ? backwards->calls[backwards->open % BACKWARDS_KEPT].stack_id : 0;
}

/* The first call that began after the event; 0: none, or it is not kept any more. */
uint32_t backwards_after(const struct backwards *backwards, uint64_t index);

#endif
