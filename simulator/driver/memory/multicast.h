/* SPDX-License-Identifier: MIT */
/*
 * Multicast objects: memory of several devices at one address. Each is also physical memory, with a
 * handle, but none of any device's: what is bound to it was created before. Not thread-safe: the
 * simulator's lock covers them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_MULTICAST_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_MULTICAST_H

struct multicast;

/* What is bound to it is let go. */
void multicast_delete(struct multicast *multicast);

#endif
