/* SPDX-License-Identifier: MIT */
/*
 * Fragmentation of one account at one moment: the reserved bytes, the live ones, and
 * how the rest is cut up.
 *
 *     pool    reserved: the segments that it hands tensors out of. A hole may continue from one
 *             mapping into the next (expandable segments), but not from one plain segment into
 *             another.
 *     driver  reserved: the distinct 2 MiB granules under live plain memory (an estimate, because
 *             the driver does not report it), the sizes of VMM objects and arrays, and what the
 *             stream-ordered pools and the pool for graphs hold. Free bytes of a stream-ordered
 *             pool count as one hole, because it can give them back; all that graphs hold is live.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_FRAGMENTATION_FRAG_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_FRAGMENTATION_FRAG_H

#include "analyzer/replay/history/history.h"

#define FRAG_GRANULE_BYTES (UINT64_C(2) << 20)

struct frag {
    uint64_t live_bytes;
    /* False: more is live than the known segments hold, or an imported trace has none. Then the
     * fields below are 0. */
    bool reserved_known;
    uint64_t reserved_bytes, free_bytes, largest_free_bytes;
    uint64_t mempools_free_bytes; /* part of free_bytes that is idle in the driver's pools */
    uint64_t stranded_bytes;      /* free, but beside live memory in a segment or granule */
    uint64_t graph_idle_bytes;    /* free bytes in CUDA graphs' segments; not part of the above */
    double external_ratio;        /* 1 - largest_free / free; 0 when nothing is free */
};

/* The state right after event `index`, which must be a moment that the history keeps. */
int frag_at(struct frag *frag, const struct history *history, uint32_t account, uint64_t index,
            struct err *err);

/* The most that a framework's pool held from the driver at once; false: its segments
 * are unknown. */
bool frag_peak_reserved(const struct account *account, uint64_t *bytes);

#endif
