/* SPDX-License-Identifier: MIT */
/*
 * Pages from mmap. See host.h.
 */
#include "host.h"

#include <stddef.h>
#include <sys/mman.h>

uint64_t host_map(uint64_t size_bytes)
{
    void *place = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return place == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)place;
}

void host_unmap(uint64_t address, uint64_t size_bytes)
{
    munmap(host_pointer(address), size_bytes);
}
