/* SPDX-License-Identifier: MIT */
/*
 * Counts the live device memory, event by event, for the one line at exit and for meta.peaks. It follows
 * the rules of the analyzer's replay (a VMM object lives as long as a handle or a mapping, a context's end
 * frees its memory, a graph pool is one block); the tests compare both with `report` on every trace that
 * they record. Where a replay might find another figure, it says so: is_doubtful. It must not know threads
 * or the order in which events arrive: tally.h does.
 * Runs on the writer's thread, so it may allocate; where that fails, an event is not counted.
 *
 *     account   what is summed together: the driver's memory of a device, or one framework pool's on it
 */
#ifndef GPUMEMTRACE_TRACE_LIVE_H
#define GPUMEMTRACE_TRACE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_DEVICES 64
#define LIVE_UNKNOWN_DEVICE LIVE_DEVICES /* stands for the device of events that name none */
#define LIVE_POOLS 4                     /* the pieces of more are not counted */
/* The driver's accounts have the numbers of their devices. */
#define LIVE_ACCOUNTS ((1 + LIVE_POOLS) * (LIVE_DEVICES + 1))

struct live_entry;

/* The members of an event that matter here. */
struct live_event {
    uint64_t seq, address, size_bytes, object;
    uint8_t kind, memory;
    int8_t device;
    int16_t result;
};

struct live {
    struct live_entry *entries; /* hash table; entry_limit is a power of two */
    size_t entry_count, entry_limit;
    uint64_t live_bytes[LIVE_ACCOUNTS], peak_bytes[LIVE_ACCOUNTS];
    bool is_seen[LIVE_ACCOUNTS]; /* a device that had an event, a pool that was asked for memory */
    uint64_t
        pools[LIVE_POOLS]; /* string ids, in the order of their first allocations; 0: no more */
    uint64_t failed_allocations;
    bool has_ended; /* an exit began: peaks and failures stay as they are, unless it is undone */
    bool is_doubtful;
};

void live_release(struct live *live);
void live_count(struct live *live, const struct live_event *event);

static inline size_t live_account_of_pool(int pool, int device)
{
    return (size_t)(1 + pool) * (LIVE_DEVICES + 1) + (size_t)device;
}

#endif
