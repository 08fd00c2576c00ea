/* SPDX-License-Identifier: MIT */
/*
 * The memory that the ranks of one communicator share: an unnamed file. The process that created
 * the key keeps the file open, and the others open its descriptor through /proc, so a killed rank
 * leaves no file behind. Each rank holds a lock, which the kernel releases when the process ends.
 *
 *     file:   header | who each rank is | counters | lanes (lanes.h), from REGION_LANES_AT
 *     locks:  byte REGION_LOCKS_AT + N: rank N lives
 *
 * Thread-safe.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define REGION_LANES_AT ((uint64_t)1 << 32)
#define REGION_RANKS_MAX 512

/* An ncclUniqueId. */
struct region_key {
    char bytes[128];
};

struct region_rank {
    _Atomic int32_t pid; /* 0: has not joined yet */
    _Atomic int32_t has_left;
};

struct region {
    struct region *next; /* list of this process's regions */
    struct region_key key;
    unsigned users, rank_count;
    int file;
    struct region_header *header;
    struct region_rank *ranks;
    /* Lanes that rank S writes. written[S × (ranks + 1) + L]: bytes written to lane L.
     * read[S × 2 ranks + L]: bytes read by the reader of lane L; read[S × 2 ranks + ranks + R]:
     * bytes read by reader R of the lane to all. */
    _Atomic uint64_t *written, *read;
};

int region_make_key(struct region_key *key, struct err *err);
/* Makes this process a rank of the region. NULL: see err. */
struct region *region_join(const struct region_key *key, unsigned rank, unsigned rank_count,
                           struct err *err);
/* The rank leaves; the others see that. */
void region_leave(struct region *region, unsigned rank);
/* Deletes a key that no rank has joined. */
void region_drop_key(const struct region_key *key);

/* False: the rank has ended or left. */
bool region_has(const struct region *region, unsigned rank);

/* Wakes all waiting ranks. */
void region_ring(struct region *region);
unsigned region_bell(const struct region *region);
/* Waits until the bell differs from `seen`, at most a tenth of a second. */
void region_wait(struct region *region, unsigned seen);
