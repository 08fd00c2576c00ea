/* SPDX-License-Identifier: MIT */
/*
 * What a context is: what lives in it, and what it was told. context.h says what happens to it.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CONTEXT_STATE_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_CONTEXT_STATE_H

#include "block.h"
#include "object.h"

struct context {
    struct object object;
    struct device *device;
    bool alive;
    unsigned retain_count; /* of a primary context; of another, how often it is attached */
    unsigned flags;
    uint64_t id;
    uint64_t life_id; /* from begin to end: no other's, nor its own after a reset */
    uint64_t peers;   /* a bit for each device made accessible */
    size_t limits[CU_LIMIT_MAX];
    uint64_t limit_bytes; /* what limits above their defaults take of the device */
    CUfunc_cache cache_config;
    struct heap small; /* granules shared by its small blocks */
    struct block *blocks;
    struct object *objects;
};

#endif
