/* SPDX-License-Identifier: MIT */
/*
 * The state of a context: its blocks and objects, and its settings. Operations are in context.h.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "block.h"
#include "object.h"

struct context {
    struct object object;
    struct device *device;
    bool alive;
    unsigned retain_count; /* primary: count of retains; others: 1 + cuCtxAttach calls */
    unsigned flags;
    uint64_t id;
    uint64_t life_id; /* a number of its own from creation to destruction or reset */
    uint64_t peers;   /* one bit for each device with peer access enabled */
    size_t limits[CU_LIMIT_MAX];
    uint64_t limit_bytes; /* device memory for limits above their defaults */
    CUfunc_cache cache_config;
    struct heap small; /* granules shared by small blocks */
    struct block *blocks;
    struct object *objects;
};
