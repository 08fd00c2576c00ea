/* SPDX-License-Identifier: MIT */
/*
 * Device memory whose size no call reports: the memory that loaded modules and raised limits take.
 * The size is computed from the card's free memory before and after the call.
 */
#pragma once

#include "contexts.h"
#include "memory_samples.h"

/* The address of a limit's block combines the limit and its context. This works because limits are
 * small numbers and context handles are pointers. */
enum { MODULES_LIMIT_SHIFT = 56 };

/* The limit (enum CUlimit) of a block of memory LIMIT. */
static inline unsigned modules_limit(const struct block *block)
{
    return (unsigned)(block->address >> MODULES_LIMIT_SHIFT);
}

int modules_load(struct memory_samples *samples, struct blocks *blocks);
int modules_unload(const struct contexts *contexts, struct blocks *blocks);
int modules_set_limit(struct memory_samples *samples, struct blocks *blocks);
