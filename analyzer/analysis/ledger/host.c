/* SPDX-License-Identifier: MIT */
/* See host.h. */
#include "host.h"

#include <stdlib.h>

#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/analysis/fragmentation/stretches.h"
#include "analyzer/replay/history/live_walk.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"

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

/* --- rounding --- */

/* 1: a frame of the call stack is the allocator's, 0: none is, -1: an error. */
static int is_of_allocator(struct symbols *symbols, uint32_t stack_id, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    struct symbol_frame frame;
    int status;
    while ((status = symbols_walk_next(&walk, &frame, err)) > 0)
        if (torch_is(frame.means, TORCH_host_allocator))
            return 1;
    return status;
}

int host_rounded_find(struct host_rounded *rounded, const struct study *study, uint32_t account,
                      uint64_t index, struct err *err)
{
    struct live_walk walk = live_walk_begin(&study->history, account, index);
    signed char *known = array_new(study->trace.frame_limit + 1, sizeof *known, err);
    const struct block *block;
    int status = known ? 0 : -1;
    *rounded = (struct host_rounded){.are_powers = true};
    while (!status && (block = live_walk_next(&walk))) {
        signed char *is_own =
            &known[site_stack(block->site_id)]; /* by stack id; -1: not, 0: not known yet */
        if (!*is_own) {
            const int found = is_of_allocator(study->symbols, site_stack(block->site_id), err);
            *is_own = found > 0 ? 1 : -1;
            status = found < 0 ? -1 : 0;
        }
        if (*is_own < 0)
            continue;
        rounded->bytes += block->size_bytes;
        rounded->are_powers &= !(block->size_bytes & (block->size_bytes - 1));
    }
    rounded->are_powers &= rounded->bytes > 0;
    free(known);
    return status;
}
