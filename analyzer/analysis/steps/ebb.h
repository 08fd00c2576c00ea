/* SPDX-License-Identifier: MIT */
/*
 * The fewest live blocks of one call stack in each of at most eight windows of its births. If most
 * blocks are freed and some are lost now and then, the fewest rise from window to window:
 *
 *     lost now and then       0 1 2 4 5 7 8     rises
 *     kept from the start     0 9 9 9 9 9 9     does not: buffers that are taken once
 *     still in use at the end 0 0 0 0 0 0 0     does not
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { EBB_WINDOWS = 8 };

/* A zeroed struct has seen no birth. */
struct ebb {
    uint64_t births_count, window; /* births of a window, a power of two; 0: no birth yet */
    uint64_t least[EBB_WINDOWS];
};

/* A block is born beside so many others. */
void ebb_birth(struct ebb *ebb, uint64_t live_count);

/* True if the fewest rise in half of the windows, also in the last quarter, and if a quarter of the
 * first half of the births is freed. */
bool ebb_rises(const struct ebb *ebb);
