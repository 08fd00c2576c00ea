/* SPDX-License-Identifier: MIT */
/*
 * Fragmentation of one account at one moment: what is reserved, what of it is live, and how the rest
 * is cut up. It must not know how the moment was chosen.
 *
 *     pool    reserved: the segments it hands tensors out of. A hole goes on from one mapping into
 *             the next (expandable segments), never from one plain segment into another.
 *     driver  reserved: the distinct 2 MiB granules under live plain memory (an estimate: the
 *             driver does not tell), the sizes of VMM objects and arrays, and what stream-ordered
 *             pools and the pool for graphs hold. What a stream-ordered pool holds free counts as
 *             one hole, which it can give back; all that graphs hold is live.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_FRAG_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_FRAG_H

#include "analyzer/replay/history/history.h"

#define FRAG_GRANULE_BYTES (UINT64_C(2) << 20)

struct frag {
    uint64_t live_bytes;
    /* False: more is live than any known segment holds, or an imported trace knows none; what follows is 0. */
    bool reserved_known;
    uint64_t reserved_bytes, free_bytes, largest_free_bytes;
    uint64_t mempools_free_bytes; /* of it idle in the driver's pools */
    uint64_t stranded_bytes;      /* free, in segments or granules that also hold live memory */
    uint64_t graph_idle_bytes;    /* of segments that belong to CUDA graphs: not in the above */
    double external_ratio;        /* 1 - largest_free / free; 0 when nothing is free */
};

/* Right after event `index`, a moment that is kept. */
int frag_at(struct frag *frag, const struct history *history, uint32_t account, uint64_t index,
            struct err *err);

/* The most a framework pool held from the driver at once; false: its segments were not seen. */
bool frag_peak_reserved(const struct account *account, uint64_t *bytes);

#endif
