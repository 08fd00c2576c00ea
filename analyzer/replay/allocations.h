/* SPDX-License-Identifier: MIT */
/*
 * ALLOC and FREE events: the kind of memory, the address space in which the block is found, and the
 * events that allocate nothing.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_ALLOCATIONS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_ALLOCATIONS_H

#include "contexts.h"
#include "vmm.h"

int allocations_alloc(struct vmm *vmm, struct blocks *blocks);
/*
 * Prefetches data of two coming events: the map slot of the far event's address, and the block that
 * the near event frees (its map slot was prefetched when that event was far).
 */
void allocations_prefetch(const struct blocks *blocks, const struct event *near,
                          const struct event *far);
int allocations_free(const struct contexts *contexts, struct vmm *vmm, struct blocks *blocks);

#endif
