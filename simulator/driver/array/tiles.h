/* SPDX-License-Identifier: MIT */
/*
 * Memory that the program maps into an array. A sparse array gets tiles of 64 KiB; an array with
 * deferred mapping gets all of its memory. Each mapping holds a reference to its physical memory.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#define TILE_BYTES ((uint64_t)64 << 10)

struct tile_mapping;

/* Empty when all zero. */
struct tiles {
    struct tile_mapping *first;
};

void tiles_drop(struct tiles *tiles);
