/* SPDX-License-Identifier: MIT */
/*
 * Physical memory behind handles: what cuMemCreate made, what was imported, and multicast objects.
 * It stays until its last handle is released, its last mapping gone, and nothing imported from it
 * in the same process is left.
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
    struct device *device; /* NULL: the host's */
    CUmemAllocationProp properties;
    uint64_t size_bytes;
    uint64_t id; /* no other's in this process */
    unsigned handle_count, mapping_count;
    bool is_charged;             /* to its device */
    struct physical *origin;     /* imported from this process; NULL: not so */
    struct multicast *multicast; /* its bindings; NULL: memory */
};

/* NULL: no such handle. */
struct physical *physical_find(CUmemGenericAllocationHandle handle);
CUmemGenericAllocationHandle physical_handle(struct physical *physical);
/* With one handle and no charge. NULL: no host memory. */
struct physical *physical_new(struct device *device, const CUmemAllocationProp *properties,
                              uint64_t size_bytes);
/* A part uses it: until it is dropped, the memory stays. */
void physical_hold(struct physical *physical);
void physical_drop(struct physical *physical);

bool physical_is_granular(uint64_t size_bytes);

#endif
