/* SPDX-License-Identifier: MIT */
/* The rests of live blocks; see rests.h. */
#include "rests.h"

#include "analyzer/allocator/model.h"

void rests_note(struct rests *rests, const struct event *event)
{
    rests->address = event->address;
    rests->asked_bytes = event->size_bytes;
}

/* Takes the requested bytes that were noted, if they are those of the block. */
static uint32_t take_units(struct rests *rests, const struct block *block)
{
    const uint64_t asked_bytes = rests->address == block->address ? rests->asked_bytes : 0;
    if (!asked_bytes || block->memory != MEMORY_TENSOR)
        return 0;
    rests->asked_bytes = 0;
    if (asked_bytes > block->size_bytes)
        return 0;
    const uint64_t units = (block->size_bytes - asked_bytes) / ALLOCATOR_ROUND_BYTES;
    return units < PAIR_MAP_NONE ? (uint32_t)units : 0;
}

int rests_change(struct rests *rests, const struct change *change, uint64_t *rest_bytes,
                 struct err *err)
{
    const struct block *block = change->block;
    uint32_t units = 0;
    if (change->birth) {
        units = take_units(rests, block);
        if (units && pair_map_put(&rests->units, block->account, block->address, units, err))
            return -1;
    } else if (rests->units.count) {
        units = pair_map_remove(&rests->units, block->account, block->address);
    }
    *rest_bytes = units == PAIR_MAP_NONE ? 0 : (uint64_t)units * ALLOCATOR_ROUND_BYTES;
    return 0;
}

void rests_release(struct rests *rests)
{
    pair_map_release(&rests->units);
    *rests = (struct rests){0};
}
