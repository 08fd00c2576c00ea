/* SPDX-License-Identifier: MIT */
/*
 * What the process does with graphs, as far as memory goes: open stream captures, and the devices
 * whose graph pool may hold something. A few atomics; every function may be called from a hook. It
 * must not know hooked calls.
 */
#ifndef GPUMEMTRACE_INTERPOSE_HOOK_GRAPHS_H
#define GPUMEMTRACE_INTERPOSE_HOOK_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

/* A stream capture began (1) or ended (-1). */
void graphs_count_capture(int change);
/* Is any stream of the process being captured? Then nothing is asked of the driver that a capture
 * could mind. */
bool graphs_capture_is_open(void);
/* Is this stream being captured? */
bool graphs_is_capturing(uint64_t stream);

/* A graph got a node that allocates on this device. */
void graphs_expect_memory(int device);
/* The devices of such nodes, a bit each, and the lowest of a set. */
uint64_t graphs_devices(void);
int graphs_first_device(uint64_t devices);

#endif
