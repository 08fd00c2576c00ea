/* SPDX-License-Identifier: MIT */
/* See weights_load.h. */
#include "weights_load.h"

#include "analyzer/allocator/allocator.h"

int weights_load(const struct weights *weights, struct footprint *load, struct err *err)
{
    const struct allocator_settings settings = allocator_default_settings();
    struct allocator allocator;
    enum allocator_outcome outcome;
    uint32_t block;
    int result = 0;
    allocator_init(&allocator, &settings);
    for (size_t i = 0; i < weights->count && !result; i++) {
        const struct allocator_request request = {.bytes = weights->items[i].bytes,
                                                  .owner = ALLOCATOR_OF_ALL};
        if (request.bytes > 0)
            result = allocator_alloc(&allocator, &request, &block, &outcome, err);
    }
    *load = (struct footprint){.requested_bytes = weights->bytes,
                               .allocated_bytes = allocator.allocated_bytes,
                               .reserved_bytes = allocator.reserved_bytes};
    allocator_release(&allocator);
    return result ? -1 : 0;
}
