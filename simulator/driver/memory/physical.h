/* SPDX-License-Identifier: MIT */
/*
 * Physical memory known by a handle: created by cuMemCreate, imported, or a multicast object. It
 * lives until its last handle is released, its last mapping is removed, and every import of it in
 * the same process is released.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_PHYSICAL_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_PHYSICAL_H

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
    struct physical *origin;     /* imported from this one of the same process; NULL: not */
    struct multicast *multicast; /* NULL: not a multicast object */
};

/* NULL: invalid handle. */
struct physical *physical_find(CUmemGenericAllocationHandle handle);
CUmemGenericAllocationHandle physical_handle(struct physical *physical);
/* Creates an object with one handle that charges no device. NULL: out of memory. */
struct physical *physical_new(struct device *device, const CUmemAllocationProp *properties,
                              uint64_t size_bytes);
/* Counts a user of the memory, such as a mapping, which keeps it alive until physical_drop. */
void physical_hold(struct physical *physical);
void physical_drop(struct physical *physical);

bool physical_is_granular(uint64_t size_bytes);

#endif
