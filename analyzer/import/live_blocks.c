/* SPDX-License-Identifier: MIT */
/* Live blocks of a log; see live_blocks.h. The map stores a 64-bit size as two 32-bit numbers. */
#include "live_blocks.h"

enum { LOW, HIGH, LOW_BITS = 31 };

int live_blocks_add(struct live_blocks *blocks, uint64_t address, uint64_t size_bytes,
                    struct err *err)
{
    const uint64_t low = size_bytes & (((uint64_t)1 << LOW_BITS) - 1);
    uint64_t replaced_bytes;
    live_blocks_take(blocks, address, &replaced_bytes);
    blocks->bytes += size_bytes;
    return pair_map_put(&blocks->sizes, LOW, address, (uint32_t)low, err) ||
                   pair_map_put(&blocks->sizes, HIGH, address, (uint32_t)(size_bytes >> LOW_BITS),
                                err)
               ? -1
               : 0;
}

bool live_blocks_take(struct live_blocks *blocks, uint64_t address, uint64_t *size_bytes)
{
    const uint32_t low = pair_map_remove(&blocks->sizes, LOW, address);
    if (low == PAIR_MAP_NONE)
        return false;
    *size_bytes = low | (uint64_t)pair_map_remove(&blocks->sizes, HIGH, address) << LOW_BITS;
    blocks->bytes -= *size_bytes;
    return true;
}

void live_blocks_release(struct live_blocks *blocks)
{
    pair_map_release(&blocks->sizes);
}
