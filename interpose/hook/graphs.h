/* SPDX-License-Identifier: MIT */
/*
 * The graph state of the process that concerns memory: open stream captures, and the devices whose
 * graph pool may hold memory. The state consists of a few atomics, so a hook may call every
 * function.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* change: 1 when a stream capture began, -1 when one ended. */
void graphs_count_capture(int change);
/* Is any stream of the process being captured? If so, a hook must ask the driver nothing that could
 * invalidate the capture. */
bool graphs_capture_is_open(void);
bool graphs_is_capturing(uint64_t stream);

/* Call it when a graph gets a node that allocates on this device. */
void graphs_expect_memory(int device);
/* graphs_devices returns the devices with such nodes, one bit for each. The other function returns
 * the lowest device of a set that is not empty. */
uint64_t graphs_devices(void);
int graphs_first_device(uint64_t devices);
