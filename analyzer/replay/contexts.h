/* SPDX-License-Identifier: MIT */
/* Knows which contexts exist during a replay, and ends the blocks of a context when the context is
 * destroyed. */
#pragma once

#include "blocks.h"

struct contexts {
    struct context *items;
    size_t capacity;
    struct slots slots;
    struct pair_map by_handle;
    uint64_t last_destroyed[DEVICE_SLOTS]; /* event index; INDEX_NONE: none was destroyed */
};

void contexts_init(struct contexts *contexts);
void contexts_release(struct contexts *contexts);

int contexts_create(struct contexts *contexts, struct blocks *blocks);
int contexts_destroy(struct contexts *contexts, struct blocks *blocks);

/* True if the current event failed because the block's context had been destroyed, which ended the
 * block. */
bool contexts_took(const struct contexts *contexts, const struct blocks *blocks, uint32_t block);
