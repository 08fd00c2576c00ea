/* SPDX-License-Identifier: MIT */
/*
 * Handles ALLOC and FREE events. Decides by the kind of memory in which address space a block is
 * looked up, and recognizes events that allocate nothing.
 */
#pragma once

#include "contexts.h"
#include "vmm.h"

int allocations_alloc(struct vmm *vmm, struct blocks *blocks);
/*
 * Prefetches data that two coming events need: the map slot of the far event's address, and the
 * block that the near event frees. The near event's map slot was prefetched when that event was the
 * far one.
 */
void allocations_prefetch(const struct blocks *blocks, const struct event *near,
                          const struct event *far);
int allocations_free(const struct contexts *contexts, struct vmm *vmm, struct blocks *blocks);
