/* SPDX-License-Identifier: MIT */
/*
 * Which free memory of PyTorch's pool was skipped while the pool grew, and why: it is of another
 * stream, of a graph, or waits for an event. It takes a pass of its own, since the moment is only known
 * after the first one. It must not know how this is shown.
 *
 *     request ──► the pool grows ──► each free block that is large enough: skipped
 *     tensor in it, or the segment goes ──► it is not any more
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_HOLES_H
#define GPUMEMTRACE_ANALYZER_WHATIF_HOLES_H

#include "analyzer/allocator/model.h"
#include "gpumemtrace/err.h"

struct hole {
    uint64_t address, size_bytes;
    enum allocator_skip skipped;
    uint64_t skipped_bytes; /* the largest request that it would have served */
};

/* Those that were skipped, by address. */
struct hole_list {
    bool is_known; /* false: not replayed, or PyTorch's caching allocator did not run */
    struct hole *items;
    size_t count, capacity;
};

/* Right after the event with that index. -1: *err says why, and nothing is to be released. */
int holes_find(struct hole_list *holes, const char *path, int device, uint64_t index,
               struct err *err);
void holes_release(struct hole_list *holes);
/* NULL: what is free from that address on was not skipped. */
const struct hole *holes_at(const struct hole_list *holes, uint64_t address, uint64_t size_bytes);

#endif
