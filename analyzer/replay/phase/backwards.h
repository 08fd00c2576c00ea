/* SPDX-License-Identifier: MIT */
/*
 * Finds the program's call to backward that memory allocated in a backward belongs to. The backward
 * runs on threads whose stacks have no line of the program. But before it begins, PyTorch makes the
 * gradient of the loss on the thread that called backward (_make_grads). The call is over when that
 * thread allocates for anything else.
 *
 *     thread 1   _make_grads, stack A ─┐                       ┌─ alloc, stack B: call 1 is over
 *     thread 2                         └ allocs of call 1 ─────┘
 *
 * The stacks of the last BACKWARDS_KEPT calls are kept.
 */
#pragma once

#include "analyzer/replay/history/cursor.h"
#include "inferred.h"

/* Handles the current event, which allocates on a thread of the program. A call to backward may
 * begin or be over with it. */
int backwards_note(const struct cursor *at, const struct inferred *inferred);

/* The stack of the call to backward that runs now; 0: no call runs. */
static inline uint32_t backwards_open_stack(const struct history *history)
{
    const struct backwards *backwards = &history->backwards;
    return backwards->open ? backwards->calls[backwards->open % BACKWARDS_KEPT].stack_id : 0;
}

/* The number of the first call that began after the event. 0: there is none, or it is no longer
 * kept. */
uint32_t backwards_after(const struct backwards *backwards, uint64_t index);
