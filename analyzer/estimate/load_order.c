/* SPDX-License-Identifier: MIT */
/* Orders layers so that children come before their module; see load_order.h. */
#include "load_order.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

/*
 * `layers` is a stack of layers that wait until the children of their module are placed. The module
 * of each waiting layer contains the module of the next waiting layer, or is the same module.
 */
struct waiting {
    const struct plan *plan;
    size_t *layers, count;
    size_t *order, placed;
};

static const struct layer *layer_of(const struct waiting *waiting, size_t number)
{
    return waiting->plan->layers[number].layer;
}

/*
 * Returns the length of the name of the module that owns the layer's tensors. The name of a
 * parameter (TRAIT_aside) begins with the name of the module that owns it.
 */
static size_t module_length(const struct layer *layer)
{
    const char *dot = layer->kind->traits & TRAIT_aside ? strrchr(layer->name, '.') : NULL;
    if (layer->kind->traits & TRAIT_aside)
        return dot ? (size_t)(dot - layer->name) : 0;
    return strlen(layer->name);
}

static bool is_within(const struct layer *layer, const struct layer *owner)
{
    const size_t length = module_length(owner);
    return length == 0 || (strncmp(layer->name, owner->name, length) == 0 &&
                           (layer->name[length] == '.' || layer->name[length] == '\0'));
}

/*
 * Places the waiting layers from `first` on. Layers of the innermost module come first. Layers of
 * one module are placed in the order in which they came.
 */
static void place_from(struct waiting *waiting, size_t first)
{
    while (waiting->count > first) {
        size_t begin = waiting->count - 1;
        const size_t end = waiting->count,
                     length = module_length(layer_of(waiting, waiting->layers[begin]));

        while (begin > first &&
               module_length(layer_of(waiting, waiting->layers[begin - 1])) == length)
            begin--;
        for (size_t i = begin; i < end; i++)
            waiting->order[waiting->placed++] = waiting->layers[i];
        waiting->count = begin;
    }
}

/* A layer without tensors is placed at once, because its place in the order has no effect. */
static void take(struct waiting *waiting, size_t number)
{
    const struct layer *layer = layer_of(waiting, number);
    size_t around = 0;
    if (!waiting->plan->layers[number].own.count) {
        waiting->order[waiting->placed++] = number;
        return;
    }
    while (around < waiting->count && is_within(layer, layer_of(waiting, waiting->layers[around])))
        around++;
    place_from(waiting, around);
    if (*layer->name)
        waiting->layers[waiting->count++] = number;
    else
        waiting->order[waiting->placed++] = number;
}

size_t *load_order(const struct plan *plan, struct err *err)
{
    struct waiting waiting = {.plan = plan,
                              .layers = array_new(plan->layer_count, sizeof(size_t), err)};
    waiting.order = waiting.layers ? array_new(plan->layer_count, sizeof(size_t), err) : NULL;
    for (size_t i = 0; i < plan->layer_count && waiting.order; i++)
        take(&waiting, plan->registered[i]);
    if (waiting.order)
        place_from(&waiting, 0);
    free(waiting.layers);
    return waiting.order;
}
