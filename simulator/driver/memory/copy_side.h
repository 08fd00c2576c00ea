/* SPDX-License-Identifier: MIT */
/*
 * One side of a copy, or what is filled: is the memory there, may the host touch it? What devices
 * hold is not stored: a copy out of device memory gives zeros, a copy into it nothing.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_COPY_SIDE_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_COPY_SIDE_H

#include "simulator/driver/machine/api.h"
#include <stdbool.h>

/* A box of rows inside memory that is seen as slices of rows. */
struct copy_side {
    uint64_t address; /* of the first byte; 0 for an array */
    uint64_t pitch_bytes, slice_bytes;
    bool is_host;
};

struct box {
    uint64_t width_bytes, height, depth;
};

/* Is [address, address + size_bytes) one live allocation's, or the program's own memory? */
CUresult copy_side_check(uint64_t address, uint64_t size_bytes, bool *is_host);
/* The same for a box; sets place->is_host. */
CUresult copy_side_check_box(struct copy_side *place, const struct box *box);

/* Both have been checked. */
void copy_side_copy(const struct copy_side *to, const struct copy_side *from,
                    const struct box *box);

#endif
