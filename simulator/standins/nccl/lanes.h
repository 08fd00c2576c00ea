/* SPDX-License-Identifier: MIT */
/*
 * What ranks tell each other: from each rank to each one, and to all, a lane of messages in the memory
 * that they share. A lane has no end, so whoever writes never waits; what all its readers have read
 * gives its memory back.
 *
 *     lane of S to D, or to all:   message, data | message, data | …
 *                                  ^ read                     ^ written
 *
 * It must not know NCCL's calls. A rank's lanes belong to one thread at a time.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_LANES_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_LANES_H

#include "region.h"

struct lanes {
    struct region *region;
    unsigned rank;
    uint64_t freed_bytes; /* of what this rank wrote to all */
    _Atomic bool aborted; /* by another thread: nothing waits any more */
};

/* A call as one rank makes it; what it gives follows. */
struct message {
    uint64_t number; /* of the calls of all; 0 between two ranks */
    uint64_t count, data_bytes;
    int32_t kind, type, reduction, root;
    int32_t state; /* of the data, as in simulator/values.h */
    int32_t unused;
};

int lanes_open(struct lanes *lanes, const struct region_key *key, unsigned rank,
               unsigned rank_count, struct err *err);
void lanes_close(struct lanes *lanes);
/* Waits until every rank has come. */
int lanes_wait_for_all(struct lanes *lanes, struct err *err);

#define LANES_TO_ALL UINT32_MAX
/* Without memory for the data the message goes without them. */
void lanes_post(struct lanes *lanes, unsigned to, const struct message *message, const void *data);
/* Waits for the next message of a rank to this one. *data is the caller's, and NULL without any. */
int lanes_take(struct lanes *lanes, unsigned from, struct message *message, void **data,
               struct err *err);
/* Waits for the message of that number to all; earlier ones are passed over. */
int lanes_take_of_all(struct lanes *lanes, unsigned from, uint64_t number, struct message *message,
                      void **data, struct err *err);
/* Passes over what a rank has said to all up to that number, without waiting. */
void lanes_pass_over(struct lanes *lanes, unsigned from, uint64_t number);

#endif
