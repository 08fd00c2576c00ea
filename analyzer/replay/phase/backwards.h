/* SPDX-License-Identifier: MIT */
/*
 * Which call of the program a backward runs for. It runs on threads without a line of the program, but before it
 * PyTorch makes the gradient of the loss on the thread that called it (_make_grads); the call is over when
 * that thread allocates for anything else. It must not know blocks.
 *
 *     thread 1   _make_grads, stack A ─┐                       ┌─ alloc, stack B: call 1 is over
 *     thread 2                         └ allocs of call 1 ─────┘
 *
 * Of the calls the last BACKWARDS_KEPT are known by their stacks.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_PHASE_BACKWARDS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_PHASE_BACKWARDS_H

#include "analyzer/replay/history/cursor.h"
#include "inferred.h"

/* An allocation on a thread of the program: a call may begin or be over. */
int backwards_note(const struct cursor *at, const struct inferred *inferred);

/* The stack of the call that runs; 0: none does. */
static inline uint32_t backwards_open_stack(const struct history *history)
{
    const struct backwards *backwards = &history->backwards;
    return backwards->open ? backwards->calls[backwards->open % BACKWARDS_KEPT].stack_id : 0;
}

/* The first call that began after the event; 0: none did, or it is not known any more. */
uint32_t backwards_after(const struct backwards *backwards, uint64_t index);

#endif
