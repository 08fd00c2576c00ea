/* SPDX-License-Identifier: MIT */
/* The memory that a process holds and requests outside a framework's pool, from its history. */
#pragma once

#include "analyzer/replay/history/history.h"

/* Returns the bytes that the driver's pools of the device keep beyond those that they handed
 * out. */
uint64_t outside_idle_bytes(const struct history *history, int device);
/* Returns the most bytes that the driver would have had to hold if it had served a refused request
 * from outside the pool; 0: no such request was refused. */
uint64_t outside_refused_bytes(const struct history *history, int device);
