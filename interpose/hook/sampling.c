/* SPDX-License-Identifier: MIT */
/*
 * What the device and its pools say of themselves around a captured call. See sampling.h.
 */
#include "sampling.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "device.h"
#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "graphs.h"

#define GRANULE_BYTES ((uint64_t)2 << 20) /* what a small allocation takes from the device */
#define GRAPH_POOL                                                                                 \
    1 /* + device: where graph pools stand among the pools, whose handles are pointers */

/* The first look at a device from inside a context: what is used there and is not the process's own
 * is the context, and other processes. */
static void define_context(struct capture *capture, int device, const struct device_memory *memory,
                           uint64_t own_bytes)
{
    const uint64_t used_bytes = memory->total_bytes - memory->free_bytes;
    if (used_bytes < own_bytes || !device_first_look(device))
        return;
    const struct ring_slot record = {.seq = (uint64_t)device, .size_bytes = used_bytes - own_bytes};
    thread_define(capture->thread, SLOT_CONTEXT, &record, NULL, 0);
}

/* cuMemGetInfo speaks of the current device, and the call may have been for another. */
static bool look_at(struct capture *capture, int device, struct device_memory *memory)
{
    return device != DEVICE_UNKNOWN && device == device_current(capture->thread) &&
           device_memory(memory);
}

void sampling_device(struct capture *capture, int device)
{
    struct device_memory memory;
    if (!look_at(capture, device, &memory))
        return;
    define_context(capture, device, &memory, 0);
    const struct capture_facts facts = {.kind = EVENT_DEVICE_MEMORY,
                                        .device = device,
                                        .address = memory.free_bytes,
                                        .size_bytes = memory.total_bytes};
    capture_child(capture, &facts);
}

void sampling_around(struct capture *capture)
{
    if (GMT_LIKELY(capture->kind != EVENT_MODULE_LOAD && capture->kind != EVENT_MODULE_UNLOAD &&
                   capture->kind != EVENT_LIMIT))
        return;
    const int saved_errno = errno;
    const int device = device_current(capture->thread);
    device_introduce(capture->thread, device);
    sampling_device(capture, device);
    errno = saved_errno;
}

void sampling_context(struct capture *capture, const struct capture_facts *facts)
{
    struct device_memory memory;
    const uint64_t own_bytes =
        memory_account(facts->memory) == ACCOUNT_device
            ? (facts->size_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES
            : 0;
    if (!device_is_looked_at(facts->device) && look_at(capture, facts->device, &memory))
        define_context(capture, facts->device, &memory, own_bytes);
}

/* Is this figure of the pool new? One word a pool: a collision only costs an event. */
static bool is_new(uint64_t pool, uint64_t figure)
{
    static _Atomic uint64_t last[64];
    const uint64_t hash = pool * 0x9e3779b97f4a7c15u, word = hash ^ figure;
    return atomic_exchange_explicit(&last[hash >> 58], word, memory_order_relaxed) != word;
}

void sampling_pool(struct capture *capture, const struct capture_facts *facts)
{
    struct device_pool_usage usage;
    if (!device_pool_usage(facts->object, &usage) || !is_new(facts->object, usage.reserved_bytes))
        return;
    const struct capture_facts sample = {.kind = EVENT_POOL_USAGE,
                                         .memory = MEMORY_ASYNC,
                                         .device = facts->device,
                                         .address = usage.used_bytes,
                                         .size_bytes = usage.reserved_bytes,
                                         .object = facts->object};
    capture_child(capture, &sample);
}

void sampling_graphs(struct capture *capture, const struct capture_facts *facts, int result)
{
    struct capture_facts known = *facts;
    struct device_pool_usage usage;
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        known.kind = EVENT_ALLOC;
        known.device = device_current(capture->thread);
        sampling_device(capture, known.device);
        capture_store(capture, &known, result);
    }
    for (uint64_t left = result == 0 ? graphs_devices() : 0; left; left &= left - 1) {
        known.device = graphs_first_device(left);
        if (!device_graph_usage(known.device, &usage) ||
            !is_new(GRAPH_POOL + (uint64_t)known.device,
                    usage.reserved_bytes ^ usage.used_bytes << 32))
            continue;
        device_introduce(capture->thread, known.device);
        known.address = usage.used_bytes;
        known.size_bytes = usage.reserved_bytes;
        capture_store(capture, &known, result);
    }
}

void sampling_pool_call(struct capture *capture, const struct capture_facts *facts, int result)
{
    struct capture_facts known = *facts;
    struct device_pool_usage usage;
    if (result != 0 || !device_pool_usage(known.object, &usage) ||
        !is_new(known.object, usage.reserved_bytes))
        return;
    known.address = usage.used_bytes;
    known.size_bytes = usage.reserved_bytes;
    capture_store(capture, &known, result);
}
