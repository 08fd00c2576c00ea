/* SPDX-License-Identifier: MIT */
/*
 * One side of a copy, or what is filled: is the memory there, may the host touch it? What devices
 * hold is not stored: a copy out of device memory gives zeros, a copy into it nothing.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_PLACE_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_PLACE_H

#include "api.h"
#include <stdbool.h>

/* A box of rows inside memory that is seen as slices of rows. */
struct place {
    uint64_t address; /* of the first byte; 0 for an array */
    uint64_t pitch_bytes, slice_bytes;
    bool is_host;
};

struct box {
    uint64_t width_bytes, height, depth;
};

/* Is [address, address + size_bytes) one live allocation's, or the program's own memory? */
CUresult place_check(uint64_t address, uint64_t size_bytes, bool *is_host);
/* The same for a box; sets place->is_host. */
CUresult place_check_box(struct place *place, const struct box *box);

/* Both have been checked. */
void place_copy(const struct place *to, const struct place *from, const struct box *box);

#endif
