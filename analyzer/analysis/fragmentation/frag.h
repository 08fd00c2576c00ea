/* SPDX-License-Identifier: MIT */
/*
 * Fragmentation of one account at one moment: the reserved bytes, the live bytes, and how the free
 * bytes between the live ones are cut up.
 *
 *     pool    Its reserved bytes are the segments that it hands out tensors from. A hole may
 *             continue from one mapping into the next (expandable segments), but not from one plain
 *             segment into another.
 *     driver  Its reserved bytes are the distinct 2 MiB granules under live plain memory (an
 *             estimate, because the driver does not report them), the sizes of VMM objects and
 *             arrays, and what the driver's pools hold: the stream-ordered ones and the pool for
 *             graphs. The free bytes of such a pool count as one hole, because the pool can give
 *             them back.
 */
#pragma once

#include "analyzer/replay/history/history.h"

#define FRAG_GRANULE_BYTES (UINT64_C(2) << 20)

struct frag {
    uint64_t live_bytes;
    /* False if more bytes are live than the known segments hold, or if an imported trace has no
     * segments. The fields below are 0 in that case. */
    bool reserved_known;
    uint64_t reserved_bytes, free_bytes, largest_free_bytes;
    uint64_t mempools_free_bytes;      /* part of free_bytes that is idle in the driver's pools */
    uint64_t graph_mempool_free_bytes; /* part of it that is idle in the pool for graphs */
    uint64_t stranded_bytes;   /* free bytes in a segment or granule that holds live memory */
    uint64_t graph_idle_bytes; /* free bytes in CUDA graphs' segments; not in free_bytes */
    double external_ratio;     /* 1 - largest_free / free; 0 when nothing is free */
};

/* Finds the state right after event `index`, which must be a moment that the history keeps. */
int frag_at(struct frag *frag, const struct history *history, uint32_t account, uint64_t index,
            struct err *err);

/* Finds the free bytes of the driver's stream-ordered pool with this handle, right after event
 * `index`. account: the driver's, of the pool's device. */
int frag_mempool_free(uint64_t *bytes, const struct history *history, uint32_t account,
                      uint64_t handle, uint64_t index, struct err *err);

/* Sets *bytes to the most that a framework's pool held from the driver at one time. Returns false
 * if the segments of the pool are unknown. */
bool frag_peak_reserved(const struct account *account, uint64_t *bytes);
