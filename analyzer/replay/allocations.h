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
 * What events to come will look for is fetched into the cache, one thing after the other: the place of
 * the address, then the block that a free ends, then what observers keep of its call stack.
 */
void allocations_fetch_place(const struct blocks *blocks, const struct event *event);
void allocations_fetch_block(const struct blocks *blocks, const struct event *event);
void allocations_fetch_stack(const struct blocks *blocks, const struct event *event);
int allocations_free(const struct contexts *contexts, struct vmm *vmm, struct blocks *blocks);

#endif
