/* SPDX-License-Identifier: MIT */
/*
 * What a tensor asked of its pool, where its block was handed out whole and is larger: under other settings it
 * would have been cut. It must not know those settings.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_ASKED_H
#define GPUMEMTRACE_ANALYZER_WHATIF_ASKED_H

#include "analyzer/allocator/allocator.h"
#include "gpumemtrace/event.h"

struct asked {
    uint64_t address, bytes; /* of the block, and what was asked for; 0: it is not reported */
};

/* Before the tensor's event is replayed: the request is for what was asked, if the recorded allocator then
 * hands out the block that was recorded. Else the recorder saw the size of another tensor. */
void asked_apply(struct asked *asked, const struct allocator *recorded, const struct event *event,
                 struct allocator_request *request);

#endif
