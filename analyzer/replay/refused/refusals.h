/* SPDX-License-Identifier: MIT */
/*
 * Decides which failed calls form one failure, and which were no failure. A failed call was no
 * failure if the request was served after a flush or in another way, or if the framework did
 * without the memory.
 *
 * If the driver refuses a request, a framework's allocator flushes its cache and asks again. The
 * next calls of the thread decide about the refusal:
 *
 *     refused ─► (flushed, refused) ─► the pool reports out of memory    all of it is one failure
 *             ─► flushed ─► the same size is served                      a retry: no failure
 *             ─► served in the same size ─► a piece of the pool lies in it   a retry
 *             ─► anything else, or nothing                               a failure of its own
 *     the pool reports out of memory, for what the framework can do without (optional.h)
 *             ─► its thread asks for anything                  done without: no failure
 *     another error ─► the same size is served next            no failure: PyTorch first requests
 *                      memory that other machines may map, then memory that they may not
 *
 * The thread has flushed if it gave a segment of a pool back to the driver. Two calls of one
 * failure have the same innermost Python frame, if both have Python frames.
 */
#pragma once

#include "analyzer/replay/history/cursor.h"

/* Handles the current event, which failed to allocate memory of the account in the phase `path`. */
int refusals_add(const struct cursor *at, uint32_t account, uint32_t path, bool is_of_backward,
                 uint32_t forward_stack_id);
/* Handles the current event, which is of kind ALLOC. Call it before any other part of the replay
 * handles the event. */
int refusals_before_alloc(const struct cursor *at);
/* Handles the current event, which gave a segment of a framework's pool back to the driver. */
void refusals_note_flush(const struct cursor *at, uint64_t bytes);
