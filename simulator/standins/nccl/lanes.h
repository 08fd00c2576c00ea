/* SPDX-License-Identifier: MIT */
/*
 * Messages between ranks, in memory that they share. Each rank has one lane to each rank, and one
 * lane to all ranks. Lanes are unbounded, so that a writer never waits; data that all readers have
 * read is freed.
 *
 *     lane of S to D, or to all:   message, data | message, data | …
 *                                  ^ read                     ^ written
 *
 * A rank's lanes belong to one thread at a time.
 */
#pragma once

#include "region.h"

struct lanes {
    struct region *region;
    unsigned rank;
    uint64_t freed_bytes; /* of the lane to all */
    _Atomic bool aborted; /* set by another thread; ends all waits */
};

/* A call by one rank; the contents that it gives follow. */
struct message {
    uint64_t number; /* of the call, counted over all ranks; 0 for send and receive */
    uint64_t count, data_bytes;
    int32_t kind, type, reduction, root;
    int32_t state; /* state of the data (simulator/values.h) */
    int32_t unused;
};

int lanes_open(struct lanes *lanes, const struct region_key *key, unsigned rank,
               unsigned rank_count, struct err *err);
void lanes_close(struct lanes *lanes);
/* Waits until every rank has joined. */
int lanes_wait_for_all(struct lanes *lanes, struct err *err);

#define LANES_TO_ALL UINT32_MAX
/* Writes a message. If there is no memory for its data, writes it without data. */
void lanes_post(struct lanes *lanes, unsigned to, const struct message *message, const void *data);
/* Waits for the next message of a rank to this one. *data belongs to the caller; NULL: no data. */
int lanes_take(struct lanes *lanes, unsigned from, struct message *message, void **data,
               struct err *err);
/* Waits for the message with this number in a rank's lane to all; skips earlier ones. */
int lanes_take_of_all(struct lanes *lanes, unsigned from, uint64_t number, struct message *message,
                      void **data, struct err *err);
/* Skips messages up to this number in a rank's lane to all, without waiting. */
void lanes_pass_over(struct lanes *lanes, unsigned from, uint64_t number);
