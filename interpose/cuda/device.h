/* SPDX-License-Identifier: MIT */
/*
 * The recorder's questions to the driver: the current device, its properties, its free memory.
 * These functions call libcuda's own functions. Call none of them while you hold a lock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/cuda/abi.h"
#include "interpose/recording/event_slot.h"

/* A placeholder for the device of the calling thread's current context. */
#define DEVICE_CURRENT (-2)

struct device_memory {
    uint64_t free_bytes, total_bytes;
};

struct device_mempool_usage {
    uint64_t used_bytes, reserved_bytes;
};

/* Returns the device of the calling thread's current context. The device is cached per thread.
 * DEVICE_UNKNOWN: there is no context. */
int device_current(struct thread *thread);
/* Returns the context that device_current last found on this thread. */
uint64_t device_current_context(struct thread *thread);
/* Returns the device that holds this address. If a mempool of another device is used, it is not the
 * current device. Returns DEVICE_CURRENT if the driver does not tell. */
int device_of_address(uint64_t address);
/* Empties the caches of device_current, because a context may have been destroyed. */
void device_forget_contexts(void);

/* Returns the device's current memory pool (mempool); 0 if the driver does not tell. */
uint64_t device_mempool(int device);
bool device_mempool_usage(uint64_t pool, struct device_mempool_usage *usage);
/* Fills *usage for the pool that the device's graphs allocate from. */
bool device_graph_usage(int device, struct device_mempool_usage *usage);
/* Returns the bytes of the allocation that contains this address; 0 if the driver does not tell. */
uint64_t device_range_bytes(uint64_t address);
/* Returns the bytes of a mapped buffer of a graphics API; 0 for an image. */
uint64_t device_graphics_bytes(CUgraphicsResource resource);
bool device_is_capturing(uint64_t stream);
/* Calls cuMemGetInfo for the current context. Do not call it during a stream capture. */
bool device_memory(struct device_memory *memory);
/* Is the primary context of this device inactive? Returns false if the driver does not tell. */
bool device_primary_inactive(int device);

bool device_context_exists(CUcontext context);

/* Returns the device with this UUID, written in the form of nvidia-smi; DEVICE_UNKNOWN: there is no
 * such device. */
int device_of_uuid(const char *text);

/* Writes the name, UUID and size of the device to the trace when the device is met for the first
 * time. */
void device_introduce(struct thread *thread, int device);
/* Was a sample of the device's free memory taken from inside a context? device_first_look returns
 * true only to its first caller. */
bool device_is_looked_at(int device);
bool device_first_look(int device);
void device_setup(void);

/* Returns the result of cuDriverGetVersion; 0: unknown. */
int device_driver_version(void);
bool device_is_simulated(void);
