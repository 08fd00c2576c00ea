/* SPDX-License-Identifier: MIT */
/*
 * Finds the bytes that a tensor requested if its pool handed out a whole block that is larger. The
 * requested bytes matter, because under other settings the block would have been split.
 */
#pragma once

#include "analyzer/allocator/allocator.h"
#include "gpumemtrace/event.h"

struct requested {
    uint64_t address, bytes; /* address of the block, and its requested bytes; 0: not reported */
};

/*
 * Reduces the request to the reported size if the recorded allocator would hand out a block of the
 * recorded size for it. If it would not, the reported size belongs to another tensor, and the
 * request stays as it is. Must be called before the tensor's event is replayed.
 */
void requested_apply(struct requested *requested, const struct allocator *recorded,
                     const struct event *event, struct allocator_request *request);
