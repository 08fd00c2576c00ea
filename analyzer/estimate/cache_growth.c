/* SPDX-License-Identifier: MIT */
/* Sizes between two plans; see cache_growth.h. */
#include "cache_growth.h"

/* A number of tokens, and the plans with the next lower and the next higher number. */
struct place {
    const struct plan *low, *high;
    uint64_t tokens, low_tokens, high_tokens;
};

void cache_growth_release(struct cache_growth *growth)
{
    while (growth->count > 0)
        plan_release(&growth->plans[--growth->count]);
}

static uint64_t between(const struct place *place, uint64_t low, uint64_t high)
{
    const double share = (double)(place->tokens - place->low_tokens) /
                         (double)(place->high_tokens - place->low_tokens);
    return high >= low ? low + (uint64_t)((double)(high - low) * share + 0.5)
                       : low - (uint64_t)((double)(low - high) * share + 0.5);
}

static void set_layer(struct plan *plan, const struct place *place, size_t i)
{
    const struct plan_layer *low = &place->low->layers[i], *high = &place->high->layers[i];
    struct plan_layer *layer = &plan->layers[i];
    for (size_t k = layer->layer->first_input;
         k < layer->layer->first_input + layer->layer->input_count; k++)
        plan->copy_bytes[k] = between(place, place->low->copy_bytes[k], place->high->copy_bytes[k]);
    layer->output_bytes = between(place, low->output_bytes, high->output_bytes);
    layer->input_bytes = between(place, low->input_bytes, high->input_bytes);
    for (size_t k = 0; k < layer->extra.count; k++)
        if (k < low->extra.count && k < high->extra.count)
            layer->extra.items[k].bytes =
                between(place, low->extra.items[k].bytes, high->extra.items[k].bytes);
}

void cache_growth_set(struct plan *plan, const struct cache_growth *growth, uint64_t tokens)
{
    size_t i = 1;
    while (i + 1 < growth->count && growth->tokens[i] < tokens)
        i++;
    const struct place place = {.low = &growth->plans[i - 1],
                                .high = &growth->plans[i],
                                .tokens = tokens,
                                .low_tokens = growth->tokens[i - 1],
                                .high_tokens = growth->tokens[i]};
    for (size_t k = 0; k < plan->layer_count; k++)
        set_layer(plan, &place, k);
    plan->input_bytes = between(&place, place.low->input_bytes, place.high->input_bytes);
}
