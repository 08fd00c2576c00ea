/* SPDX-License-Identifier: MIT */
/*
 * The rests of live blocks: the bytes that PyTorch's pool handed out beyond the request, because it
 * does not cut small rests off. A rest depends on the block that was free, so it may be another one
 * in each step.
 *
 *     pool-asked  address, 2.25 MiB    rests_note
 *     alloc       address, 2.75 MiB    rests_change returns 0.50 MiB
 *     free        address              rests_change returns 0.50 MiB
 */
#pragma once

#include "analyzer/replay/history/observer.h"
#include "analyzer/util/pair_map.h"

/* Zeroed is ready for use. */
struct rests {
    uint64_t address, asked_bytes; /* of the block that comes next; 0: not known */
    struct pair_map units;         /* rests in units, by account and address; none: there is none */
};

/* To be called for the event that tells the requested bytes of the next block. */
void rests_note(struct rests *rests, const struct event *event);
/* To be called once for each change of a block. Finds its rest. */
int rests_change(struct rests *rests, const struct change *change, uint64_t *rest_bytes,
                 struct err *err);
void rests_release(struct rests *rests);
