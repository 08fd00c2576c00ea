/* SPDX-License-Identifier: MIT */
/*
 * The sizes of a decoding pass's tensors at any number of cached tokens. A model file gives a plan
 * for one number of tokens. Between two such plans, each size is on a straight line, if no sliding
 * window is filled in between.
 */
#pragma once

#include "plan.h"

#define GROWTH_PLANS_MOST 6

struct cache_growth {
    /* Plans of the same model, with the same number of layers and of their inputs, for rising
     * numbers of tokens, beginning with those of the prompt. */
    struct plan plans[GROWTH_PLANS_MOST];
    uint64_t tokens[GROWTH_PLANS_MOST];
    size_t count;
};

void cache_growth_release(struct cache_growth *growth);
/* Sets the sizes of the plan, which is of the same model, to those at `tokens` tokens. */
void cache_growth_set(struct plan *plan, const struct cache_growth *growth, uint64_t tokens);
