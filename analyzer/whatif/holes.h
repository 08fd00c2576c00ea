/* SPDX-License-Identifier: MIT */
/*
 * Finds free memory of PyTorch's pool that was skipped while the pool grew, and why: it belongs to
 * another stream or to a graph, or waits for an event. The search takes a pass of its own over the
 * trace, because the moment is known only after the first pass.
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
    uint64_t skipped_bytes; /* the largest request that the hole would have served */
};

/* Skipped holes, by address. */
struct hole_list {
    bool is_known; /* false: not replayed, or another allocator than PyTorch's caching one ran */
    struct hole *items;
    size_t count, capacity;
};

/* Finds the holes right after the event with that index. -1: *err says why, and nothing is to be
 * released. */
int holes_find(struct hole_list *holes, const char *path, int device, uint64_t index,
               struct err *err);
void holes_release(struct hole_list *holes);
/* The hole in which the free memory at that address lies. NULL: that memory was not skipped. */
const struct hole *holes_at(const struct hole_list *holes, uint64_t address, uint64_t size_bytes);

#endif
