/* SPDX-License-Identifier: MIT */
/*
 * The bytes that a tensor requested, if its pool handed out a larger block whole: under other
 * settings the block would have been split.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_REQUESTED_H
#define GPUMEMTRACE_ANALYZER_WHATIF_REQUESTED_H

#include "analyzer/allocator/allocator.h"
#include "gpumemtrace/event.h"

struct requested {
    uint64_t address, bytes; /* of the block, and as requested; 0: not reported */
};

/*
 * Call it before the tensor's event is replayed. Reduces the request to the reported size, if the
 * recorded allocator then hands out the recorded block. Otherwise the reported size was another
 * tensor's.
 */
void requested_apply(struct requested *requested, const struct allocator *recorded,
                     const struct event *event, struct allocator_request *request);

#endif
