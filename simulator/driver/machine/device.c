/* SPDX-License-Identifier: MIT */
/*
 * The table of devices and the free memory of each. See device.h.
 */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/printable.h"
#include "shared.h"
#include "simulator/card.h"

#define ARENA_LIMIT 256
/* Device addresses start here if this range of the process is free, so that they are the same in
 * every run. */
#define ARENA_WISH ((uint64_t)0x200000000000)
#define LOW_WISH ((uint64_t)1 << 30)
#define LOW_BYTES ((uint64_t)256 << 20) /* size of one arena */
#define LOW_END ((uint64_t)1 << 32)
#define ANY_BYTES ((uint64_t)64 << 30) /* size of an arena of a card without limit */

struct arena {
    uint64_t address, size_bytes;
};

static struct sim_spec spec;
static struct device devices[SIM_DEVICE_LIMIT];
static int visible_count;
static int owner; /* pid of the process with used_bytes; a forked child keeps it */
static struct arena arenas[ARENA_LIMIT];
static size_t arena_count;

const struct sim_spec *device_spec(void)
{
    return &spec;
}

int device_count(void)
{
    return visible_count;
}

struct device *device_at(int ordinal)
{
    return ordinal >= 0 && ordinal < visible_count ? &devices[ordinal] : NULL;
}

static void add_visible(int index)
{
    devices[visible_count].ordinal = visible_count;
    devices[visible_count].index = index;
    visible_count++;
}

/* Reads CUDA_VISIBLE_DEVICES. As documented, the list ends before the first number that is invalid
 * or that is a duplicate. */
static void read_visible(const char *text)
{
    char *end;
    for (uint64_t seen = 0;; text = end + 1) {
        const long index = strtol(text, &end, 10);
        if (end == text || index < 0 || index >= spec.device_count || (seen >> index & 1))
            return;
        seen |= (uint64_t)1 << index;
        add_visible((int)index);
        if (*end != ',')
            return;
    }
}

CUresult device_setup(void)
{
    const char *text = getenv("GPUMEMTRACE_SIM"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    const char *name = "GPUMEMTRACE_SIM";
    struct err err;
    if (!text || !*text)
        text = SIM_SPEC_DEFAULT;
    if (sim_spec_parse(text, &spec, &err))
        goto complain;
    name = "GPUMEMTRACE_SIM_SHARED";
    owner = getpid();
    if (shared_open(text, &err))
        goto complain;
    if (visible)
        read_visible(visible);
    else
        for (int i = 0; i < spec.device_count; i++)
            add_visible(i);
    return visible_count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
complain:
    printable_make(err.message);
    fprintf(stderr, "gpumemtrace simulator: %s: %s\n", name, err.message);
    return CUDA_ERROR_INVALID_VALUE;
}

static uint64_t held_bytes(const struct device *device)
{
    return device->used_bytes + (device->context_count ? spec.context_bytes : 0);
}

/* Call with the shared table locked, because other processes may hold memory of the card. */
static uint64_t all_held_bytes(const struct device *device)
{
    return held_bytes(device) + spec.others_bytes + shared_others_bytes(device->index);
}

/* Call with the shared table locked. */
static uint64_t left_bytes(const struct device *device)
{
    const uint64_t all_bytes = all_held_bytes(device);
    return all_bytes < spec.total_bytes ? spec.total_bytes - all_bytes : 0;
}

uint64_t device_free_bytes(const struct device *device)
{
    shared_lock();
    const uint64_t bytes = left_bytes(device);
    shared_unlock();
    return bytes;
}

uint64_t device_total_bytes(const struct device *device)
{
    shared_lock();
    const uint64_t all_bytes = all_held_bytes(device);
    shared_unlock();
    return all_bytes > spec.total_bytes ? all_bytes : spec.total_bytes;
}

struct process_list {
    struct sim_process *items;
    unsigned count, most;
};

static void add_process(struct process_list *list, int pid, uint64_t bytes)
{
    if (!bytes)
        return;
    if (list->count < list->most)
        list->items[list->count] = (struct sim_process){(unsigned)pid, bytes};
    list->count++;
}

/* Reads the SPEC and opens the shared table, because programs query NVML in processes that never
 * call CUDA. */
static void look(void)
{
    const char *text = getenv("GPUMEMTRACE_SIM");
    struct err err;
    if (!spec.total_bytes)
        (void)sim_spec_parse(text && *text ? text : SIM_SPEC_DEFAULT, &spec, &err);
    shared_look();
}

unsigned device_processes(int index, struct sim_process *processes, unsigned most)
{
    struct process_list list = {.items = processes, .most = most};
    int pid;
    look();
    for (int i = 0; i < visible_count; i++)
        if (devices[i].index == index)
            add_process(&list, owner, held_bytes(&devices[i]));
    add_process(&list, SIM_OTHERS_PID, spec.others_bytes);
    shared_lock();
    for (int slot = 0; slot < SHARED_SLOTS; slot++) {
        const uint64_t bytes = shared_other_bytes(slot, index, &pid);
        add_process(&list, pid, bytes);
    }
    shared_unlock();
    return list.count;
}

/* Every change of a device's memory held by this process goes through this function. */
static CUresult device_hold(struct device *device, uint64_t size_bytes, bool as_context)
{
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    shared_lock();
    if (spec.is_unlimited || size_bytes <= left_bytes(device)) {
        if (as_context)
            device->context_count++;
        else
            device->used_bytes += size_bytes;
        shared_hold(device->index, held_bytes(device));
        result = CUDA_SUCCESS;
    }
    shared_unlock();
    return result;
}

static void let_go(struct device *device, uint64_t size_bytes, bool as_context)
{
    shared_lock();
    if (as_context)
        device->context_count--;
    else
        device->used_bytes -= size_bytes;
    shared_hold(device->index, held_bytes(device));
    shared_unlock();
}

CUresult device_begin_context(struct device *device)
{
    return device_hold(device, device->context_count ? 0 : spec.context_bytes, true);
}

void device_end_context(struct device *device)
{
    let_go(device, 0, true);
}

CUresult device_charge(struct device *device, uint64_t size_bytes)
{
    return device_hold(device, size_bytes, false);
}

void device_discharge(struct device *device, uint64_t size_bytes)
{
    let_go(device, size_bytes, false);
}

/* The UUID depends only on the card's index on the simulated machine, so all processes get the same
 * one. */
void device_uuid(int index, CUuuid *uuid)
{
    static const char family[] = "gpumemtrace-sim";
    memcpy(uuid->bytes, family, sizeof uuid->bytes);
    uuid->bytes[15] = (char)(index + 1);
}

static bool is_low(uint64_t address)
{
    return address < LOW_END;
}

/* Returns the end of the last arena of this kind. The next arena should begin there, so that arenas
 * are contiguous. */
static uint64_t next_wish(bool low)
{
    for (size_t i = arena_count; i > 0; i--)
        if (is_low(arenas[i - 1].address) == low)
            return arenas[i - 1].address + arenas[i - 1].size_bytes;
    return low ? LOW_WISH : ARENA_WISH;
}

/* Gives the heap more addresses when no hole is large enough, because a device with an MMU does not
 * run out of memory through fragmentation. Only low addresses can run out. */
static int add_arena(struct heap *heap, uint64_t size_bytes, bool low)
{
    if (arena_count == ARENA_LIMIT)
        return -1;
    const uint64_t address = addresses_reserve(size_bytes, GRANULE_BYTES, next_wish(low));
    if (!address)
        return -1;
    if ((low && address + size_bytes > LOW_END) || heap_add(heap, address, size_bytes, NULL)) {
        addresses_release(address, size_bytes);
        return -1;
    }
    arenas[arena_count++] = (struct arena){address, size_bytes};
    return 0;
}

static struct heap *heap_of(struct device *device, bool low)
{
    return low ? &device->low_addresses : &device->addresses;
}

static struct span *take_addresses(struct device *device, uint64_t size_bytes, bool low)
{
    struct heap *heap = heap_of(device, low);
    const uint64_t usual_bytes = low                 ? LOW_BYTES
                                 : spec.is_unlimited ? ANY_BYTES
                                                     : spec.total_bytes & ~(GRANULE_BYTES - 1);
    struct span *span = heap_take(heap, size_bytes);
    if (!span && !add_arena(heap, size_bytes > usual_bytes ? size_bytes : usual_bytes, low))
        span = heap_take(heap, size_bytes);
    return span;
}

static CUresult device_take_from(struct device *device, uint64_t size_bytes, bool low,
                                 struct span **span)
{
    uint64_t rounded_bytes;
    if (round_up_overflows(size_bytes, GRANULE_BYTES, &rounded_bytes) ||
        device_charge(device, rounded_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *span = take_addresses(device, rounded_bytes, low);
    if (*span)
        return CUDA_SUCCESS;
    device_discharge(device, rounded_bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult device_take(struct device *device, uint64_t size_bytes, struct span **span)
{
    return device_take_from(device, size_bytes, false, span);
}

CUresult device_take_low(struct device *device, uint64_t size_bytes, struct span **span)
{
    return device_take_from(device, size_bytes, true, span);
}

void device_give(struct device *device, struct span *span)
{
    device_discharge(device, span->size_bytes);
    heap_give(heap_of(device, is_low(span->address)), span);
}

CUresult device_reserve(struct device *device, uint64_t size_bytes, struct span **span)
{
    uint64_t rounded_bytes;
    if (round_up_overflows(size_bytes, GRANULE_BYTES, &rounded_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *span = take_addresses(device, rounded_bytes, false);
    return *span ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void device_unreserve(struct device *device, struct span *span)
{
    heap_give(&device->addresses, span);
}

bool device_owns_address(uint64_t address)
{
    for (size_t i = 0; i < arena_count; i++)
        if (address >= arenas[i].address && address - arenas[i].address < arenas[i].size_bytes)
            return true;
    return false;
}
