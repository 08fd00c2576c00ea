/* SPDX-License-Identifier: MIT */
/* The requested size of a tensor; see requested.h. */
#include "requested.h"

void requested_apply(struct requested *requested, const struct allocator *recorded,
                     const struct event *event, struct allocator_request *request)
{
    const struct requested reported = *requested;
    struct allocator_request smaller = *request;
    *requested = (struct requested){0};
    if (!reported.bytes || reported.address != event->address)
        return;
    smaller.bytes = (reported.bytes + ALLOCATOR_ROUND_BYTES - 1) / ALLOCATOR_ROUND_BYTES *
                    ALLOCATOR_ROUND_BYTES;
    if (allocator_would_give(recorded, &smaller) == event->size_bytes)
        *request = smaller;
}
