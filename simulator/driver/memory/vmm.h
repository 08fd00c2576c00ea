/* SPDX-License-Identifier: MIT */
/*
 * Queries of reserved addresses. Not thread-safe: the simulator's lock covers them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_VMM_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_VMM_H

#include <stdbool.h>
#include <stdint.h>

bool vmm_is_reserved(uint64_t address);

#endif
