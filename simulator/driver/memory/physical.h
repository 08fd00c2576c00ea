/* SPDX-License-Identifier: MIT */
/*
 * Physical memory that has a handle. It was created by cuMemCreate, imported, or belongs to a
 * multicast object. It is freed when its last handle is released, its last mapping is removed, and
 * all of its imports in this process are released.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "simulator/driver/machine/call.h"
#include "simulator/driver/machine/object.h"

struct multicast;

struct physical {
    struct object object;
    struct device *device; /* NULL: host memory */
    CUmemAllocationProp properties;
    uint64_t size_bytes;
    uint64_t id; /* unique in this process */
    unsigned handle_count, mapping_count;
    bool is_charged;             /* whether its device is charged */
    struct physical *origin;     /* set if imported from the same process */
    struct multicast *multicast; /* NULL: not a multicast object */
};

/* NULL: invalid handle. */
struct physical *physical_find(CUmemGenericAllocationHandle handle);
CUmemGenericAllocationHandle physical_handle(struct physical *physical);
/* Creates an object with one handle that charges no device. NULL: out of memory. */
struct physical *physical_new(struct device *device, const CUmemAllocationProp *properties,
                              uint64_t size_bytes);
/* Increments the count of users, such as mappings; physical_drop decrements it. */
void physical_hold(struct physical *physical);
void physical_drop(struct physical *physical);

bool physical_is_granular(uint64_t size_bytes);
