/* SPDX-License-Identifier: MIT */
/*
 * The addresses of segments and of ranges, where the model has no driver below it. What went back is
 * handed out again: the smallest hole that is large enough, the lowest of several, as the simulator does
 * and as NVIDIA's driver is assumed to do. It matters, for among free blocks of one size PyTorch takes
 * the lowest address. It must not know blocks.
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
    struct address_hole *items; /* by address; no two touch */
    size_t count, capacity;
    uint64_t next_address; /* all from here on was never used, or came back */
};

void addresses_release(struct addresses *addresses);
/* What *to held is lost. -1: out of memory. */
int addresses_copy(struct addresses *to, const struct addresses *from, struct err *err);
uint64_t addresses_take(struct addresses *addresses, uint64_t bytes);
/* Where there is no memory to note it, it is not handed out again. */
void addresses_give(struct addresses *addresses, uint64_t address, uint64_t bytes);

#endif
