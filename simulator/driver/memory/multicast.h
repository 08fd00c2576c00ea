/* SPDX-License-Identifier: MIT */
/*
 * Multicast objects: memory of several devices at one address. Each has a handle of physical memory
 * but no memory of its own: existing physical memory is bound to it. Not thread-safe: the
 * simulator's lock covers them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_MULTICAST_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_MULTICAST_H

struct multicast;

/* Releases the memory bound to the object. */
void multicast_delete(struct multicast *multicast);

#endif
