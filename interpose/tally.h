/* SPDX-License-Identifier: MIT */
/*
 * Live and peak bytes of device memory while the writer stores events, for the one line at exit.
 * The analyzer's figures come from its own replay; these must not be stored.
 *
 * Events reach the writer thread by thread, so they are put back in the order of their numbers
 * first. One that a thread is still inside of is waited for, but not for more than
 * TALLY_WAITING_MAX others.
 */
#ifndef GPUMEMTRACE_INTERPOSE_TALLY_H
#define GPUMEMTRACE_INTERPOSE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store.h"

#define TALLY_DEVICES 64
#define TALLY_WAITING_MAX 65536

struct tally_block {
    uint64_t address; /* 0: free place */
    uint64_t size_bytes;
    int device;
};

struct tally_event {
    uint64_t seq;
    uint64_t address;
    uint64_t size_bytes;
    int8_t device; /* -1: not an allocation of device memory */
    bool frees;
};

struct tally {
    struct tally_block *blocks; /* hash table; block_limit is a power of two */
    size_t block_count, block_limit;
    struct tally_event *waiting; /* ascending seq */
    size_t waiting_count, waiting_limit;
    uint64_t next_seq;
    uint64_t live_bytes[TALLY_DEVICES], peak_bytes[TALLY_DEVICES];
    uint64_t failed_allocations;
};

void tally_release(struct tally *tally);
/* A batch, ascending in seq. */
void tally_add(struct tally *tally, const struct store_event *events, size_t count);
/* No more will come: what waits is counted. */
void tally_finish(struct tally *tally);

#endif
