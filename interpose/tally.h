/* SPDX-License-Identifier: MIT */
/*
 * Live and peak bytes of device memory as the writer stores events, for the one line at exit. The
 * analyzer's figures come from its own replay; this must not be stored.
 */
#ifndef GPUMEMTRACE_INTERPOSE_TALLY_H
#define GPUMEMTRACE_INTERPOSE_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "store.h"

struct tally_entry {
    uint64_t address; /* 0: free slot */
    uint64_t size_bytes;
    int device;
};

struct tally {
    struct tally_entry *entries;
    size_t entry_count, entry_limit;
    uint64_t live_bytes[64], peak_bytes[64];
    uint64_t failed_allocations;
};

void tally_release(struct tally *tally);
/* Events in the order of their numbers. */
void tally_add(struct tally *tally, const struct store_event *events, size_t count);

#endif
