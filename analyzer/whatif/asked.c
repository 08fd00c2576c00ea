/* SPDX-License-Identifier: MIT */
/* What a tensor asked of its pool; see asked.h. */
#include "asked.h"

void asked_apply(struct asked *asked, const struct allocator *recorded, const struct event *event,
                 struct allocator_request *request)
{
    const struct asked reported = *asked;
    struct allocator_request smaller = *request;

    *asked = (struct asked){0};
    if (!reported.bytes || reported.address != event->address)
        return;
    smaller.bytes = (reported.bytes + ALLOCATOR_ROUND_BYTES - 1) / ALLOCATOR_ROUND_BYTES *
                    ALLOCATOR_ROUND_BYTES;
    if (allocator_would_give(recorded, &smaller) == event->size_bytes)
        *request = smaller;
}
