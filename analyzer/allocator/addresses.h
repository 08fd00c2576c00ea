/* SPDX-License-Identifier: MIT */
/*
 * Hands out addresses for segments and ranges if the model has no driver below it. Freed addresses
 * are handed out again, from the smallest hole that is large enough. If several holes have that
 * size, the lowest one is used. The simulator does the same, and NVIDIA's driver is assumed to.
 * Addresses matter because PyTorch takes the lowest of several free blocks of one size.
 *
 *     | segment | hole | segment |   hole   | segment |  never used ...
 *                                                     ^ next_address
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct address_hole {
    uint64_t address, bytes;
};

struct addresses {
    struct address_hole *items; /* sorted by address; no two are adjacent */
    size_t count, capacity;
    uint64_t next_address; /* addresses from here on are all free */
};

void addresses_release(struct addresses *addresses);
uint64_t addresses_take(struct addresses *addresses, uint64_t bytes);
/* Makes the addresses available again. If there is no memory to note them, they are lost. */
void addresses_give(struct addresses *addresses, uint64_t address, uint64_t bytes);
