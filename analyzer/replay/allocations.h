/* SPDX-License-Identifier: MIT */
/*
 * What an allocation and a free mean: which kind of memory, in which space its address is found,
 * and what is no allocation at all. It must not know phases, nor what keeps a VMM object alive.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_ALLOCATIONS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_ALLOCATIONS_H

#include "contexts.h"
#include "vmm.h"

int allocations_alloc(struct vmm *vmm, struct blocks *blocks);
/*
 * Of two events to come, fetches into the cache what they will look for: the place of the far one's
 * address, and the block that the near one frees, whose place is there by then.
 */
void allocations_prefetch(const struct blocks *blocks, const struct event *near,
                          const struct event *far);
int allocations_free(const struct contexts *contexts, struct vmm *vmm, struct blocks *blocks);

#endif
