/* SPDX-License-Identifier: MIT */
/*
 * Queries of reserved addresses. Not thread-safe: the simulator's lock covers them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool vmm_is_reserved(uint64_t address);
