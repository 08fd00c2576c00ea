/* SPDX-License-Identifier: MIT */
/*
 * Reserves inaccessible ranges of the process's address space. So a device address is unique in the
 * process, and host code that touches it faults as on a real machine.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "device.h"
#include "gpumemtrace/compiler.h"

bool round_up_overflows(uint64_t size_bytes, uint64_t unit_bytes, uint64_t *rounded_bytes)
{
    const bool overflows = GMT_ADD_OVERFLOWS(size_bytes, unit_bytes - 1, rounded_bytes);
    *rounded_bytes &= ~(unit_bytes - 1);
    return overflows;
}

uint64_t addresses_reserve(uint64_t size_bytes, uint64_t alignment_bytes, uint64_t wish)
{
    uint64_t padded_bytes;
    if (GMT_ADD_OVERFLOWS(size_bytes, alignment_bytes, &padded_bytes))
        return 0;
    void *place = mmap((void *)(uintptr_t)wish, padded_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        return 0;
    const uint64_t start = (uint64_t)(uintptr_t)place;
    uint64_t address;
    if (round_up_overflows(start, alignment_bytes, &address))
        return 0;
    if (address > start)
        addresses_release(start, address - start);
    addresses_release(address + size_bytes, start + padded_bytes - (address + size_bytes));
    return address;
}

void addresses_release(uint64_t address, uint64_t size_bytes)
{
    if (size_bytes)
        munmap((void *)(uintptr_t)address, size_bytes);
}
