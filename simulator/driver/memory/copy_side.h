/* SPDX-License-Identifier: MIT */
/*
 * One side of a copy or the target of a fill: checks that the memory exists and whether the host
 * can access it. Contents of device memory are kept by contents.h; unknown bytes read as 0.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "simulator/driver/machine/api.h"
#include <stdbool.h>

/* The start and layout of memory seen as slices of rows. */
struct copy_side {
    uint64_t address; /* of the first byte; 0 for an array */
    uint64_t pitch_bytes, slice_bytes;
    bool is_host;
};

struct box {
    uint64_t width_bytes, height, depth;
};

/* Checks that [address, address + size_bytes) lies in one live allocation or in the program's own
 * memory. */
CUresult copy_side_check(uint64_t address, uint64_t size_bytes, bool *is_host);
/* Does the same as copy_side_check for a box. Sets place->is_host. */
CUresult copy_side_check_box(struct copy_side *place, const struct box *box);

/* Both sides must have been checked. */
void copy_side_copy(const struct copy_side *to, const struct copy_side *from,
                    const struct box *box);
