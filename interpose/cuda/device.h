/* SPDX-License-Identifier: MIT */
/*
 * The recorder's questions to the driver, by libcuda's own functions: the current device, its
 * properties, its free memory. Call none of them with a lock held.
 */
#ifndef GPUMEMTRACE_INTERPOSE_CUDA_DEVICE_H
#define GPUMEMTRACE_INTERPOSE_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/cuda/abi.h"
#include "interpose/recording/event_slot.h"

/* Placeholder: the device of the calling thread's current context. */
#define DEVICE_CURRENT (-2)

struct device_memory {
    uint64_t free_bytes, total_bytes;
};

struct device_mempool_usage {
    uint64_t used_bytes, reserved_bytes;
};

/* Device of the calling thread's current context, which is cached per thread. DEVICE_UNKNOWN: there
 * is no context. */
int device_current(struct thread *thread);
/* The context that device_current last found on this thread. */
uint64_t device_current_context(struct thread *thread);
/* Device that holds this address. It may not be the current one if a mempool of another device is
 * used. DEVICE_CURRENT if the driver does not tell. */
int device_of_address(uint64_t address);
/* Empties the caches of device_current, because a context may have been destroyed. */
void device_forget_contexts(void);

/* The device's current memory pool (mempool); 0 if the driver does not tell. */
uint64_t device_mempool(int device);
bool device_mempool_usage(uint64_t pool, struct device_mempool_usage *usage);
/* The same for the pool that the device's graphs allocate from. */
bool device_graph_usage(int device, struct device_mempool_usage *usage);
/* Bytes of the allocation that contains this address; 0 if the driver does not tell. */
uint64_t device_range_bytes(uint64_t address);
/* Bytes of a mapped buffer of a graphics API; 0 for an image. */
uint64_t device_graphics_bytes(CUgraphicsResource resource);
bool device_is_capturing(uint64_t stream);
/* cuMemGetInfo of the current context. Do not call it during a stream capture. */
bool device_memory(struct device_memory *memory);
/* Is the primary context of this device inactive? false if the driver does not tell. */
bool device_primary_inactive(int device);

bool device_context_exists(CUcontext context);

/* The device with this UUID, written as nvidia-smi does; DEVICE_UNKNOWN: no device. */
int device_of_uuid(const char *text);

/* Writes name, UUID and size of the device to the trace, the first time that it is met. */
void device_introduce(struct thread *thread, int device);
/* Was a sample of the device's free memory taken from inside a context? device_first_look returns
 * true once: to its first caller. */
bool device_is_looked_at(int device);
bool device_first_look(int device);
void device_setup(void);

/* cuDriverGetVersion; 0: unknown. */
int device_driver_version(void);
bool device_is_simulated(void);

#endif
