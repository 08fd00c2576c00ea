/* SPDX-License-Identifier: MIT */
/*
 * The simulated devices: their count and properties, the free memory of each, and the addresses of
 * its memory.
 *
 *     total = others + other processes (shared.h) + context cost (while any context lives)
 *             + used + free
 *     used  = granules under plain allocations + reserved by pools + cuMemCreate
 *
 * Not thread-safe: the simulator's lock covers everything except device_count and device_at, which
 * any thread may call after device_setup.
 */
#pragma once

#include "api.h"
#include "heap.h"
#include "common/sim_spec.h"

#define GRANULE_BYTES ((uint64_t)2 << 20) /* unit of device memory: 2 MiB pages */
#define BLOCK_UNIT_BYTES ((uint64_t)512)  /* allocations are rounded up to this */

struct context;

struct device {
    int ordinal; /* number in this process */
    int index;   /* number on the machine; differs under CUDA_VISIBLE_DEVICES */
    uint64_t used_bytes;
    unsigned context_count;
    struct heap addresses, low_addresses; /* low: below 4 GiB, for functions older than CUDA 3.2 */
    struct context *primary;
};

/* Reads GPUMEMTRACE_SIM, GPUMEMTRACE_SIM_SHARED and CUDA_VISIBLE_DEVICES. Reports errors on
 * stderr. */
CUresult device_setup(void);
const struct sim_spec *device_spec(void);
int device_count(void);
/* NULL: no such device. */
struct device *device_at(int ordinal);

uint64_t device_free_bytes(const struct device *device);
/* Returns the total of the SPEC. If a card has no limit and all processes together hold more,
 * returns the bytes that they hold. */
uint64_t device_total_bytes(const struct device *device);
/* Lists the processes that hold memory of the card with this index; the memory of others= in the
 * SPEC is listed as that of process 1. Works before device_setup. Fills at most `most` items and
 * returns how many there are. */
struct sim_process;
unsigned device_processes(int index, struct sim_process *processes, unsigned most);
void device_uuid(int index, CUuuid *uuid);

/* Charges the context cost for the first context of a device; later contexts are free. */
CUresult device_begin_context(struct device *device);
void device_end_context(struct device *device);

/* Charges memory that has no addresses. */
CUresult device_charge(struct device *device, uint64_t size_bytes);
void device_discharge(struct device *device, uint64_t size_bytes);
/* Charges memory, rounded up to granules, and gives it addresses. */
CUresult device_take(struct device *device, uint64_t size_bytes, struct span **span);
CUresult device_take_low(struct device *device, uint64_t size_bytes, struct span **span);
void device_give(struct device *device, struct span *span);
/* Gives addresses without charging memory. */
CUresult device_reserve(struct device *device, uint64_t size_bytes, struct span **span);
void device_unreserve(struct device *device, struct span *span);

/* Whether the address lies in any device's address range, allocated or not. */
bool device_owns_address(uint64_t address);
/* Rounds up to a multiple of unit_bytes, a power of two. true: the result overflows 64 bits. */
bool round_up_overflows(uint64_t size_bytes, uint64_t unit_bytes, uint64_t *rounded_bytes);
/* Reserves addresses that cannot be read or written. Returns 0 if no addresses are left. */
uint64_t addresses_reserve(uint64_t size_bytes, uint64_t alignment_bytes, uint64_t wish);
void addresses_release(uint64_t address, uint64_t size_bytes);
