/* SPDX-License-Identifier: MIT */
/*
 * See sampling.h.
 */
#include "sampling.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "graphs.h"
#include "interpose/cuda/device.h"

#define GRANULE_BYTES ((uint64_t)2 << 20) /* bytes that a small allocation takes from the device */
/* GRAPH_POOL plus the device's number is the key of the device's graph pool in has_changed. No
 * mempool has such a key, because mempool handles are pointers. */
#define GRAPH_POOL 1

/* The bytes that the device's graph pool holds. Launches fill it, and no sample is taken then. */
static uint64_t graph_pool_bytes(int device)
{
    struct device_mempool_usage usage;
    const bool has_nodes = graphs_devices() >> device & 1;
    return has_nodes && device_graph_usage(device, &usage) ? usage.reserved_bytes : 0;
}

/* At the first sample of a device, the memory in use beyond the process's own bytes belongs to the
 * context and to other processes. */
static void define_context(struct hooked_call *call, int device, const struct device_memory *memory,
                           uint64_t own_bytes)
{
    const uint64_t used_bytes = memory->total_bytes - memory->free_bytes;
    if (device_is_looked_at(device))
        return;
    own_bytes += graph_pool_bytes(device);
    if (used_bytes < own_bytes || !device_first_look(device))
        return;
    const struct ring_slot record = {.seq = (uint64_t)device, .size_bytes = used_bytes - own_bytes};
    thread_define(call->thread, SLOT_CONTEXT, &record, NULL, 0);
}

/* --- when to take the next sample --- */

/*
 * A context grows when a kernel is first used. No hooked call shows this growth, so the driver must
 * be asked. A sample is due each time the process has allocated so many bytes that the use of the
 * card may have reached a new peak, in steps of 1/64 of the card. If a due sample finds no new
 * peak, the next sample is due only after at least twice as many bytes, but at most after the size
 * of the card. Frees in between and races between threads can only cause a needless sample.
 */
enum { LOOKS_PER_CARD = 64 };

struct looks {
    _Atomic uint64_t taken_bytes;      /* bytes allocated since the last sample */
    _Atomic uint64_t due_bytes;        /* allocated bytes after which the next sample is due */
    _Atomic uint64_t least_free_bytes; /* lowest free bytes of all samples */
};
/* All accesses are relaxed, because no member depends on another. */
static struct looks looks[DEVICE_LIMIT];

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t read_word(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void write_word(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static void note_look(int device, const struct device_memory *memory)
{
    struct looks *of = &looks[device];
    const bool is_first = !device_is_looked_at(device);
    const uint64_t least_bytes = is_first ? UINT64_MAX : read_word(&of->least_free_bytes);
    const bool was_due = !is_first && read_word(&of->taken_bytes) >= read_word(&of->due_bytes);
    uint64_t due_bytes = memory->total_bytes / LOOKS_PER_CARD;
    if (memory->free_bytes >= least_bytes) {
        const uint64_t twice_bytes = was_due ? 2 * read_word(&of->due_bytes) : 0;
        due_bytes += memory->free_bytes - least_bytes;
        due_bytes = due_bytes > twice_bytes ? due_bytes : twice_bytes;
    }
    write_word(&of->due_bytes, least(due_bytes, memory->total_bytes));
    write_word(&of->least_free_bytes, least(memory->free_bytes, least_bytes));
    write_word(&of->taken_bytes, 0);
}

static bool look_is_due(int device, uint64_t taken_bytes)
{
    if (device < 0 || device >= DEVICE_LIMIT)
        return false;
    struct looks *of = &looks[device];
    const uint64_t before_bytes =
        atomic_fetch_add_explicit(&of->taken_bytes, taken_bytes, memory_order_relaxed);
    return before_bytes + taken_bytes >= read_word(&of->due_bytes);
}

/* --- samples --- */

/* Samples only the current device, because cuMemGetInfo takes no device. The hooked call may be for
 * another device. Takes no sample during a stream capture. */
static bool ask_memory(struct hooked_call *call, int device, struct device_memory *memory)
{
    if (device < 0 || device >= DEVICE_LIMIT || device != device_current(call->thread) ||
        graphs_capture_is_open() || !device_memory(memory))
        return false;
    note_look(device, memory);
    return true;
}

void sampling_device(struct hooked_call *call, int device)
{
    struct device_memory memory;
    if (!ask_memory(call, device, &memory))
        return;
    define_context(call, device, &memory, 0);
    const struct event_args args = {.kind = EVENT_DEVICE_MEMORY,
                                    .device = device,
                                    .address = memory.free_bytes,
                                    .size_bytes = memory.total_bytes};
    hooked_call_child(call, &args);
}

void sampling_current_device(struct hooked_call *call)
{
    const int saved_errno = errno;
    const int device = device_current(call->thread);
    device_introduce(call->thread, device);
    sampling_device(call, device);
    errno = saved_errno;
}

/* Returns the process's own bytes on a device without an earlier sample. A mempool counts with its
 * reserved bytes, because it reserves more than it hands out. */
static uint64_t first_bytes(const struct event_args *args, uint64_t own_bytes)
{
    struct device_mempool_usage usage;
    return args->memory == MEMORY_ASYNC && device_mempool_usage(args->object, &usage) &&
                   usage.reserved_bytes > own_bytes
               ? usage.reserved_bytes
               : own_bytes;
}

void sampling_context(struct hooked_call *call, const struct event_args *args)
{
    struct device_memory memory;
    const uint64_t own_bytes =
        account_kind(args->memory) == ACCOUNT_device
            ? (args->size_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES
            : 0;
    if (GMT_UNLIKELY(!device_is_looked_at(args->device))) {
        if (ask_memory(call, args->device, &memory))
            define_context(call, args->device, &memory, first_bytes(args, own_bytes));
    } else if (GMT_UNLIKELY(own_bytes && look_is_due(args->device, own_bytes)))
        sampling_device(call, args->device);
}

/* The last figure of each pool, in one word of this table. If two pools share a word, the only cost
 * is a needless event. */
static _Atomic uint64_t last_figures[64];

static uint64_t pool_hash(uint64_t pool)
{
    return pool * 0x9e3779b97f4a7c15u;
}

/* Has this figure of the pool changed since the last call? */
static bool has_changed(uint64_t pool, uint64_t figure)
{
    const uint64_t hash = pool_hash(pool), word = hash ^ figure;
    return atomic_exchange_explicit(&last_figures[hash >> 58], word, memory_order_relaxed) != word;
}

void sampling_current_mempool(struct hooked_call *call, int device)
{
    const struct event_args args = {.device = device, .object = device_mempool(device)};
    if (args.object && read_word(&last_figures[pool_hash(args.object) >> 58]))
        sampling_mempool(call, &args);
}

void sampling_mempool(struct hooked_call *call, const struct event_args *args)
{
    struct device_mempool_usage usage;
    if (!device_mempool_usage(args->object, &usage) ||
        !has_changed(args->object, usage.reserved_bytes))
        return;
    const struct event_args sample = {.kind = EVENT_POOL_USAGE,
                                      .memory = MEMORY_ASYNC,
                                      .device = args->device,
                                      .address = usage.used_bytes,
                                      .size_bytes = usage.reserved_bytes,
                                      .object = args->object};
    hooked_call_child(call, &sample);
}

/* Removes devices from the set until it finds one whose graph pool changed. Returns false if there
 * is none, else describes the pool. */
static bool next_graph_pool(struct hooked_call *call, uint64_t *devices, struct event_args *known)
{
    struct device_mempool_usage usage;
    while (*devices) {
        known->device = graphs_first_device(*devices);
        *devices &= *devices - 1;
        if (!device_graph_usage(known->device, &usage) ||
            !has_changed(GRAPH_POOL + (uint64_t)known->device,
                         usage.reserved_bytes ^ usage.used_bytes << 32))
            continue;
        device_introduce(call->thread, known->device);
        known->address = usage.used_bytes;
        known->size_bytes = usage.reserved_bytes;
        return true;
    }
    return false;
}

void sampling_graphs(struct hooked_call *call, const struct event_args *args, int result)
{
    struct event_args known = *args;
    uint64_t devices = result == 0 ? graphs_devices() : 0;
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        known.kind = EVENT_ALLOC;
        known.device = device_current(call->thread);
        sampling_device(call, known.device);
        hooked_call_store(call, &known, result);
    }
    while (next_graph_pool(call, &devices, &known))
        hooked_call_store(call, &known, result);
}

void sampling_graph_end(struct hooked_call *call)
{
    struct event_args known = {.kind = EVENT_POOL_USAGE, .memory = MEMORY_GRAPH};
    uint64_t devices = graphs_devices();
    const int saved_errno = errno;
    while (next_graph_pool(call, &devices, &known))
        hooked_call_child(call, &known);
    errno = saved_errno;
}

void sampling_mempool_call(struct hooked_call *call, const struct event_args *args, int result)
{
    struct event_args known = *args;
    struct device_mempool_usage usage;
    if (result != 0 || !device_mempool_usage(known.object, &usage) ||
        !has_changed(known.object, usage.reserved_bytes))
        return;
    known.address = usage.used_bytes;
    known.size_bytes = usage.reserved_bytes;
    hooked_call_store(call, &known, result);
}
