/* SPDX-License-Identifier: MIT */
/*
 * What the recorder asks the driver, by libcuda's own functions: which device this thread is on,
 * what a device is, how much it has left. Never inside a lock. It must not know hooks, nor record
 * events.
 */
#ifndef GPUMEMTRACE_INTERPOSE_CUDA_DEVICE_H
#define GPUMEMTRACE_INTERPOSE_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/cuda/abi.h"
#include "interpose/recording/event_slot.h"

/* Of the calling thread's current context; until that is looked up. */
#define DEVICE_CURRENT (-2)

struct device_memory {
    uint64_t free_bytes, total_bytes;
};

struct device_mempool_usage {
    uint64_t used_bytes, reserved_bytes;
};

/* The device of the calling thread's current context, which is remembered; DEVICE_UNKNOWN if it has
 * none. */
int device_current(struct thread *thread);
/* The context that device_current found. */
uint64_t device_current_context(struct thread *thread);
/* The device whose memory this address is: a mempool's may be another than the current one.
 * DEVICE_CURRENT if the driver does not say. */
int device_of_address(uint64_t address);
/* A context may have been destroyed: what is remembered of contexts is forgotten. */
void device_forget_contexts(void);

/* The device's current memory pool (mempool); 0 when it cannot tell. */
uint64_t device_mempool(int device);
bool device_mempool_usage(uint64_t pool, struct device_mempool_usage *usage);
/* The same of the pool that the device's graphs allocate from. */
bool device_graph_usage(int device, struct device_mempool_usage *usage);
/* Bytes of the allocation that holds this address, whoever made it; 0 if the driver cannot tell. */
uint64_t device_range_bytes(uint64_t address);
/* Bytes of a mapped buffer of a graphics API; 0 for an image. */
uint64_t device_graphics_bytes(CUgraphicsResource resource);
bool device_is_capturing(uint64_t stream);
/* cuMemGetInfo of the current context; not to be asked while a stream is captured. */
bool device_memory(struct device_memory *memory);
/* Is the primary context of this device inactive? false if the driver cannot tell. */
bool device_primary_inactive(int device);

bool device_context_exists(CUcontext context);

/* The device with that UUID, as nvidia-smi shows it; DEVICE_UNKNOWN: none has it. */
int device_of_uuid(const char *text);

/* Writes name, uuid and size of the device to the trace the first time it is met. */
void device_introduce(struct thread *thread, int device);
/* Has somebody looked at the device's free memory from inside a context? device_first_look is true
 * once, for the first to call it. */
bool device_is_looked_at(int device);
bool device_first_look(int device);
void device_setup(void);

/* cuDriverGetVersion, 0: unknown; and is the driver this project's simulator? */
int device_driver_version(void);
bool device_is_simulated(void);

#endif
