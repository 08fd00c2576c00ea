/* SPDX-License-Identifier: MIT */
/*
 * What device memory is live, event by event, for the one line at exit. It follows the rules of the
 * analyzer's replay for the cases that programs meet (VMM objects live as long as a reference or a
 * mapping, contexts take theirs along, a graph pool is one block); the trace, not this, is the
 * truth. Runs on the writer's thread, so it may allocate; when it cannot, an event goes uncounted.
 */
#ifndef GPUMEMTRACE_TRACE_LIVE_H
#define GPUMEMTRACE_TRACE_LIVE_H

#include <stddef.h>
#include <stdint.h>

#define LIVE_DEVICES 64

struct live_entry;

/* What of an event matters here. */
struct live_event {
    uint64_t seq, address, size_bytes, object;
    uint8_t kind, memory;
    int8_t device;
    int16_t result;
};

struct live {
    struct live_entry *entries; /* hash table; entry_limit is a power of two */
    size_t entry_count, entry_limit;
    uint64_t live_bytes[LIVE_DEVICES], peak_bytes[LIVE_DEVICES];
    uint64_t failed_allocations;
};

void live_release(struct live *live);
void live_count(struct live *live, const struct live_event *event);

#endif
