/* SPDX-License-Identifier: MIT */
/* The live blocks while a log is read, by address, with their sizes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/util/pair_map.h"

/* More than any machine has. A block is at most this large, so that sums of two do not overflow. */
#define LIVE_BYTES_MOST ((uint64_t)1 << 61)

struct live_blocks { /* zeroed: empty */
    struct pair_map sizes;
    uint64_t bytes; /* sum of all sizes */
};

/* Replaces a live block at the same address. */
int live_blocks_add(struct live_blocks *blocks, uint64_t address, uint64_t size_bytes,
                    struct err *err);
/* Removes the block. Returns false if none begins at the address. */
bool live_blocks_take(struct live_blocks *blocks, uint64_t address, uint64_t *size_bytes);
void live_blocks_release(struct live_blocks *blocks);
