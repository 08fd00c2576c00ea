/* SPDX-License-Identifier: MIT */
/*
 * Multicast objects: memory of several devices at one address. An object has a handle of physical
 * memory but no memory; the program binds physical memory to it. Not thread-safe: the simulator's
 * lock covers them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_MULTICAST_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_MULTICAST_H

struct multicast;

/* Releases the memory that is bound to the object. */
void multicast_delete(struct multicast *multicast);

#endif
