/* SPDX-License-Identifier: MIT */
/*
 * The memory that the ranks of one communicator share: a file without a name. The process that made the
 * key keeps it open, and the others open it by its number there, so nothing is left behind by a rank
 * that is killed. Who lives is said by locks, which the system releases however a process dies.
 *
 *     file:   header | who each rank is | counters | lanes (lanes.h), from REGION_LANES_AT
 *     locks:  byte REGION_LOCKS_AT + N: rank N lives
 *
 * It must not know what is in the lanes. Each function may be called by any thread.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_REGION_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_REGION_H

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
    _Atomic int32_t pid; /* 0: has not come yet */
    _Atomic int32_t has_left;
};

struct region {
    struct region *next; /* of this process */
    struct region_key key;
    unsigned users, rank_count;
    int file;
    struct region_header *header;
    struct region_rank *ranks;
    /* Of rank S: bytes written to lane L, at S × (ranks + 1) + L; and read, at S × 2 ranks + L by the
     * reader of lane L, at S × 2 ranks + ranks + R by reader R of the lane to all. */
    _Atomic uint64_t *written, *read;
};

int region_make_key(struct region_key *key, struct err *err);
/* This process becomes a rank of the region. NULL: err. */
struct region *region_join(const struct region_key *key, unsigned rank, unsigned rank_count,
                           struct err *err);
/* The rank leaves; the others notice. */
void region_leave(struct region *region, unsigned rank);
/* Forgets a key that nobody joined. */
void region_drop_key(const struct region_key *key);

/* False: it has ended, or left. */
bool region_has(const struct region *region, unsigned rank);

/* Wakes all that wait. */
void region_ring(struct region *region);
unsigned region_bell(const struct region *region);
/* Waits until the bell has rung since it said `seen`, at most for a tenth of a second. */
void region_wait(struct region *region, unsigned seen);

#endif
