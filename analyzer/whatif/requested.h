/* SPDX-License-Identifier: MIT */
/*
 * What a tensor requested of its pool, where its block was handed out whole and is larger: under other settings it
 * would have been cut. It must not know those settings.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_REQUESTED_H
#define GPUMEMTRACE_ANALYZER_WHATIF_REQUESTED_H

#include "analyzer/allocator/allocator.h"
#include "gpumemtrace/event.h"

struct requested {
    uint64_t address, bytes; /* of the block, and what was requested; 0: it is not reported */
};

/* Before the tensor's event is replayed: the request is for what was requested, if the recorded allocator then
 * hands out the block that was recorded. Else the recorder saw the size of another tensor. */
void requested_apply(struct requested *requested, const struct allocator *recorded,
                     const struct event *event, struct allocator_request *request);

#endif
