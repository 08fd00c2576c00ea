/* SPDX-License-Identifier: MIT */
/*
 * Host memory that the simulator itself gives out: pinned and managed blocks, whole pages. It must
 * not know who gets them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_HOST_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_HOST_H

#include <stdint.h>

/* Zeroed, page-aligned; 0: none left. */
uint64_t host_map(uint64_t size_bytes);
void host_unmap(uint64_t address, uint64_t size_bytes);

static inline void *host_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

#endif
