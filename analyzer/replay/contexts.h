/* SPDX-License-Identifier: MIT */
/*
 * Contexts while replaying: which exist, and which blocks a destroyed one takes with it. It must
 * not know how the end of a block is counted.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_CONTEXTS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_CONTEXTS_H

#include "blocks.h"

struct contexts {
    struct context *items;
    size_t capacity;
    struct slots slots;
    struct pair_map by_handle;
    uint64_t last_destroyed[DEVICE_SLOTS]; /* event; INDEX_NONE: none was */
};

void contexts_init(struct contexts *contexts);
void contexts_release(struct contexts *contexts);

int contexts_create(struct contexts *contexts, struct blocks *blocks);
int contexts_destroy(struct contexts *contexts, struct blocks *blocks);

/* Whether the current event failed because the block's context was destroyed, and the block too. */
bool contexts_took(const struct contexts *contexts, const struct blocks *blocks, uint32_t block);

#endif
