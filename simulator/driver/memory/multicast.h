/* SPDX-License-Identifier: MIT */
/*
 * Multicast objects: memory of several devices at one address. Such an object has a handle like
 * physical memory, but no memory of its own. The program binds physical memory to the object. Not
 * thread-safe: the simulator's lock covers them.
 */
#pragma once

struct multicast;

/* Releases the memory that is bound to the object. */
void multicast_delete(struct multicast *multicast);
