/* SPDX-License-Identifier: MIT */
/*
 * What the recorder asks the driver itself, through libcuda's own functions: which device this
 * thread is on, what a device is, how much it has left. Never inside a lock, never during a stream
 * capture that would mind. It must not record events of its own accord.
 */
#ifndef GPUMEMTRACE_INTERPOSE_DEVICE_H
#define GPUMEMTRACE_INTERPOSE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "thread.h"

#define DEVICE_UNKNOWN (-1)
#define DEVICE_LIMIT 64

struct device_memory {
    uint64_t free_bytes, total_bytes;
};

struct device_pool_usage {
    uint64_t used_bytes, reserved_bytes;
};

/* The device of the calling thread's current context, which is left in thread->context;
 * DEVICE_UNKNOWN if it has none. */
int device_current(struct thread *thread);
/* Contexts may have gone: forget what is known of them. */
void device_forget_contexts(void);

/* The device's current memory pool, 0 when it cannot tell. */
uint64_t device_pool(int device);
bool device_pool_usage(uint64_t pool, struct device_pool_usage *usage);
/* cuMemGetInfo of the current context. */
bool device_memory(struct device_memory *memory);
/* Has the primary context of this device gone? false when it cannot tell. */
bool device_primary_inactive(int device);

/* Writes the device's name, uuid and size to the trace the first time it is met. true: first. */
bool device_introduce(struct thread *thread, int device);
void device_setup(void);

/* cuDriverGetVersion, 0: not known; and is it the project's simulator? */
int device_driver_version(void);
bool device_is_simulated(void);

#endif
