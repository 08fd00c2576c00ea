/* SPDX-License-Identifier: MIT */
/*
 * Addresses for segments and ranges, where the model has no driver below it. Freed addresses are
 * handed out again: from the smallest hole that is large enough, among equals the lowest, as the
 * simulator does and as NVIDIA's driver is assumed to do. Addresses matter because PyTorch takes
 * the lowest of several free blocks of one size.
 *
 *     | segment | hole | segment |   hole   | segment |  never used ...
 *                                                     ^ next_address
 */
#ifndef GPUMEMTRACE_ANALYZER_ALLOCATOR_ADDRESSES_H
#define GPUMEMTRACE_ANALYZER_ALLOCATOR_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct address_hole {
    uint64_t address, bytes;
};

struct addresses {
    struct address_hole *items; /* by address; no two are adjacent */
    size_t count, capacity;
    uint64_t next_address; /* addresses from here on are all free */
};

void addresses_release(struct addresses *addresses);
uint64_t addresses_take(struct addresses *addresses, uint64_t bytes);
/* Drops the addresses for good if there is no memory to note them. */
void addresses_give(struct addresses *addresses, uint64_t address, uint64_t bytes);

#endif
