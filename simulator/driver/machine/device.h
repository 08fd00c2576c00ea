/* SPDX-License-Identifier: MIT */
/*
 * The simulated cards: how many, what they are, how much memory each has left, and the addresses
 * its memory gets. It must not know what the memory is used for.
 *
 *     total = others + other processes (shared.h) + context cost (while any context lives)
 *             + used + free
 *     used  = granules under plain allocations + reserved by pools + cuMemCreate
 *
 * Not thread-safe but for device_count and device_at after device_setup: the simulator's lock
 * covers the rest.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_DEVICE_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_DEVICE_H

#include "api.h"
#include "heap.h"
#include "common/sim_spec.h"

#define GRANULE_BYTES ((uint64_t)2 << 20) /* what a device hands out: 2 MiB pages */
#define BLOCK_UNIT_BYTES ((uint64_t)512)  /* what allocations are rounded to */

struct context;

struct device {
    int ordinal; /* as the process sees it */
    int index;   /* on the simulated machine: differs under CUDA_VISIBLE_DEVICES */
    uint64_t used_bytes;
    unsigned context_count;
    struct heap addresses, low_addresses; /* low: below 4 GiB, for the driver's first forms */
    struct context *primary;
};

/* Reads GPUMEMTRACE_SIM, GPUMEMTRACE_SIM_SHARED and CUDA_VISIBLE_DEVICES. Says what is wrong on
 * stderr. */
CUresult device_setup(void);
const struct sim_spec *device_spec(void);
int device_count(void);
/* NULL: no such device. */
struct device *device_at(int ordinal);

uint64_t device_free_bytes(const struct device *device);
void device_uuid(const struct device *device, CUuuid *uuid);

/* The first context of a device pays for all of them. */
CUresult device_begin_context(struct device *device);
void device_end_context(struct device *device);

/* Accounts for memory without addresses. */
CUresult device_charge(struct device *device, uint64_t size_bytes);
void device_discharge(struct device *device, uint64_t size_bytes);
/* Memory with addresses; rounds up to granules. */
CUresult device_take(struct device *device, uint64_t size_bytes, struct span **span);
CUresult device_take_low(struct device *device, uint64_t size_bytes, struct span **span);
void device_give(struct device *device, struct span *span);
/* Addresses alone. */
CUresult device_reserve(struct device *device, uint64_t size_bytes, struct span **span);
void device_unreserve(struct device *device, struct span *span);

/* Is this an address that some device's memory has, had or may get? */
bool device_owns_address(uint64_t address);
/* Rounds up to a multiple of a power of two. true: the result does not fit. */
bool round_up_overflows(uint64_t size_bytes, uint64_t unit_bytes, uint64_t *rounded_bytes);
/* Addresses that nobody can read or write; 0: none left. */
uint64_t addresses_reserve(uint64_t size_bytes, uint64_t alignment_bytes, uint64_t wish);
void addresses_release(uint64_t address, uint64_t size_bytes);

#endif
