/* SPDX-License-Identifier: MIT */
/* See host.h. */
#include "host.h"

#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/analysis/fragmentation/stretches.h"
#include "analyzer/replay/history/live_walk.h"

int host_pinned_taken(uint64_t *bytes, const struct history *history, const struct device_use *use,
                      uint64_t index, struct err *err)
{
    struct live_walk walk = live_walk_begin(history, use->accounts[ACCOUNT_host], index);
    struct stretches pieces = {0};
    const struct block *block;
    int status = -1;

    *bytes = 0;
    while ((block = live_walk_next(&walk))) {
        const uint64_t start = block->address & ~(FRAG_GRANULE_BYTES - 1);
        const uint64_t whole = block->address - start + block->size_bytes + FRAG_GRANULE_BYTES - 1;

        if (block->memory != MEMORY_PINNED)
            *bytes += block->size_bytes;
        else if (stretches_add(&pieces, start, whole & ~(FRAG_GRANULE_BYTES - 1), true, err))
            goto out;
    }
    if (stretches_sort(&pieces, err))
        goto out;
    stretches_join(&pieces);
    for (size_t i = 0; i < pieces.count; i++)
        *bytes += pieces.items[i].end - pieces.items[i].start;
    status = 0;
out:
    stretches_release(&pieces);
    return status;
}
