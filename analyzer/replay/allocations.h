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
int allocations_free(const struct contexts *contexts, struct vmm *vmm, struct blocks *blocks);

#endif
