/* SPDX-License-Identifier: MIT */
/*
 * Which calls that failed are one failure, and which were answered by a flush and then served, or done
 * without. It must not know why a call failed.
 *
 * A framework's allocator that the driver refuses flushes its cache and asks again. Only what its
 * thread does next tells what a refusal was:
 *
 *     refused ─► (flushed, refused) ─► the pool reports out of memory    one failure, all of it
 *             ─► flushed ─► the same size is served                      a retry: no failure
 *             ─► served in the same size ─► a piece of the pool lies in it   a retry
 *             ─► anything else, or nothing                               a failure of its own
 *     the pool reports out of memory, for what the framework can do without (optional.h)
 *             ─► its thread asks for anything                  done without: no failure
 *     another error ─► the same size is served next    no failure: PyTorch asks for memory that other
 *                                                      machines may map, then for memory that they may not
 *
 * A flush is a segment of a pool that the thread gave back to the driver. Where both calls have
 * Python frames, those of one failure have the same.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_REFUSALS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_REFUSALS_H

#include "analyzer/replay/history/cursor.h"

/* The current event failed to allocate memory of the account, in a phase with that path. */
int refusals_add(const struct cursor *at, uint32_t account, uint32_t path, bool is_of_backward,
                 uint32_t forward_stack_id);
/* The current event is of kind ALLOC; nothing else was done about it yet. */
int refusals_before_alloc(const struct cursor *at);
/* The current event gave a segment of a framework's pool back to the driver. */
void refusals_note_flush(const struct cursor *at, uint64_t bytes);

#endif
