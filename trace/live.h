/* SPDX-License-Identifier: MIT */
/*
 * Counts the live device memory, event by event, for the line at exit and for meta.peaks. The
 * counting follows the rules of the analyzer's replay: a VMM object lives as long as a handle or a
 * mapping of it exists, a context's end frees its memory, and a graph pool is one block. The tests
 * compare the line and meta.peaks with `report` on every trace that they record. If a replay might
 * find another figure, is_doubtful is set. tally.h puts the events in order.
 *
 * Runs on the writer's thread, so it may allocate. If an allocation fails, the event is not
 * counted.
 *
 *     account   memory of one device that has one sum: the driver's, or that of a framework's pool
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_DEVICES 64
#define LIVE_UNKNOWN_DEVICE LIVE_DEVICES /* stands for the device of events without one */
#define LIVE_POOLS 4                     /* blocks of further pools are not counted */
/* The driver's account of a device has the device's number. live_account_of_pool returns the number
 * of a pool's account. */
#define LIVE_ACCOUNTS ((1 + LIVE_POOLS) * (LIVE_DEVICES + 1))

struct live_entry;

/* The members of an event that are used here. */
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
    bool is_seen[LIVE_ACCOUNTS]; /* the device had an event, or the pool was asked for memory */
    uint64_t pools[LIVE_POOLS];  /* string ids in the order of first use; 0: no more */
    uint64_t failed_allocations;
    bool has_ended; /* an exit event came: peaks and failures are frozen unless it is undone */
    bool is_doubtful;
};

void live_release(struct live *live);
void live_count(struct live *live, const struct live_event *event);

static inline size_t live_account_of_pool(int pool, int device)
{
    return (size_t)(1 + pool) * (LIVE_DEVICES + 1) + (size_t)device;
}
