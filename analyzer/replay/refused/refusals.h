/* SPDX-License-Identifier: MIT */
/*
 * Decides which failed calls form one failure, and which were no failure, because a flush or
 * another request served them, or the framework did without.
 *
 * If the driver refuses, a framework's allocator flushes its cache and asks again. The next calls
 * of the thread decide what a refusal was:
 *
 *     refused ─► (flushed, refused) ─► the pool reports out of memory    one failure, all of it
 *             ─► flushed ─► the same size is served                      a retry: no failure
 *             ─► served in the same size ─► a piece of the pool lies in it   a retry
 *             ─► anything else, or nothing                               a failure of its own
 *     the pool reports out of memory, for what the framework can do without (optional.h)
 *             ─► its thread asks for anything                  done without: no failure
 *     another error ─► the same size is served next            no failure: PyTorch first requests
 *                      memory that other machines may map, then memory that they may not
 *
 * A flush is a segment of a pool that the thread gave back to the driver. Calls of one failure have
 * the same Python frame, if both have one.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_REFUSALS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_REFUSALS_H

#include "analyzer/replay/history/cursor.h"

/* The current event failed to allocate memory of the account, in the phase `path`. */
int refusals_add(const struct cursor *at, uint32_t account, uint32_t path, bool is_of_backward,
                 uint32_t forward_stack_id);
/* The current event is of kind ALLOC; no other part of the replay has handled it yet. */
int refusals_before_alloc(const struct cursor *at);
/* The current event gave a segment of a framework's pool back to the driver. */
void refusals_note_flush(const struct cursor *at, uint64_t bytes);

#endif
