/* SPDX-License-Identifier: MIT */
/*
 * The table of devices and what each has left. See device.h.
 */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_LIMIT 256
/* Where device addresses start if the process has nothing there: the same in every run. */
#define ARENA_WISH ((uint64_t)0x200000000000)

struct arena {
    uint64_t address, size_bytes;
};

static struct spec spec;
static struct device devices[SPEC_DEVICE_LIMIT];
static int visible_count;
static struct arena arenas[ARENA_LIMIT];
static size_t arena_count;

const struct spec *device_spec(void)
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

/* As the driver documents it: a list of numbers that ends at the first that is no device, or at one
 * that was named before. */
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
    struct err err;
    if (spec_parse(text && *text ? text : SPEC_DEFAULT, &spec, &err)) {
        fprintf(stderr, "gpumemtrace simulator: GPUMEMTRACE_SIM: %s\n", err.message);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (visible)
        read_visible(visible);
    else
        for (int i = 0; i < spec.device_count; i++)
            add_visible(i);
    return visible_count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

uint64_t device_free_bytes(const struct device *device)
{
    const uint64_t context_bytes = device->context_count ? spec.context_bytes : 0;
    return spec.total_bytes - spec.others_bytes - context_bytes - device->used_bytes;
}

/* The same for the same card of a simulated machine, in every process. */
void device_uuid(const struct device *device, CUuuid *uuid)
{
    static const char family[] = "gpumemtrace-sim";
    memcpy(uuid->bytes, family, sizeof uuid->bytes);
    uuid->bytes[15] = (char)(device->index + 1);
}

CUresult device_charge(struct device *device, uint64_t size_bytes)
{
    if (size_bytes > device_free_bytes(device))
        return CUDA_ERROR_OUT_OF_MEMORY;
    device->used_bytes += size_bytes;
    return CUDA_SUCCESS;
}

void device_discharge(struct device *device, uint64_t size_bytes)
{
    device->used_bytes -= size_bytes;
}

/* Holes between live blocks are no lack of memory on a device with an MMU: there are always more
 * addresses. */
static int add_arena(struct device *device, uint64_t least_bytes)
{
    uint64_t size_bytes;
    if (arena_count == ARENA_LIMIT ||
        round_up_overflows(least_bytes > spec.total_bytes ? least_bytes : spec.total_bytes,
                           GRANULE_BYTES, &size_bytes))
        return -1;
    const uint64_t wish = arena_count
                              ? arenas[arena_count - 1].address + arenas[arena_count - 1].size_bytes
                              : ARENA_WISH;
    const uint64_t address = addresses_reserve(size_bytes, GRANULE_BYTES, wish);
    if (!address || heap_add(&device->addresses, address, size_bytes, NULL))
        return -1;
    arenas[arena_count++] = (struct arena){address, size_bytes};
    return 0;
}

CUresult device_take(struct device *device, uint64_t size_bytes, struct span **span)
{
    uint64_t rounded_bytes;
    if (round_up_overflows(size_bytes, GRANULE_BYTES, &rounded_bytes) ||
        rounded_bytes > device_free_bytes(device))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *span = heap_take(&device->addresses, rounded_bytes);
    if (!*span && !add_arena(device, rounded_bytes))
        *span = heap_take(&device->addresses, rounded_bytes);
    if (!*span)
        return CUDA_ERROR_OUT_OF_MEMORY;
    device->used_bytes += rounded_bytes;
    return CUDA_SUCCESS;
}

void device_give(struct device *device, struct span *span)
{
    device->used_bytes -= span->size_bytes;
    heap_give(&device->addresses, span);
}

bool device_owns_address(uint64_t address)
{
    for (size_t i = 0; i < arena_count; i++)
        if (address >= arenas[i].address && address - arenas[i].address < arenas[i].size_bytes)
            return true;
    return false;
}
