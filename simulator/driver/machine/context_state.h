/* SPDX-License-Identifier: MIT */
/*
 * The state of a context: its blocks and objects, and its settings. Operations are in context.h.
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
    unsigned retain_count; /* primary: retains; other: cuCtxAttach calls and its creation */
    unsigned flags;
    uint64_t id;
    uint64_t life_id; /* unique to this life: a reset ends it */
    uint64_t peers;   /* one bit for each device made accessible */
    size_t limits[CU_LIMIT_MAX];
    uint64_t limit_bytes; /* device memory for limits above their defaults */
    CUfunc_cache cache_config;
    struct heap small; /* granules that small blocks share */
    struct block *blocks;
    struct object *objects;
};

#endif
