/* SPDX-License-Identifier: MIT */
/*
 * Host memory for pinned and managed blocks, in whole pages.
 */
#pragma once

#include <stdint.h>

/* Returns zeroed, page-aligned memory. 0: out of memory. */
uint64_t host_map(uint64_t size_bytes);
void host_unmap(uint64_t address, uint64_t size_bytes);

static inline void *host_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}
