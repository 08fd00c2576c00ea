/* SPDX-License-Identifier: MIT */
/* See plan_holds.h. */
#include "plan_holds.h"

#include <string.h>

/*
 * Returns the length of the name of the module that contains the reader but not the source. If
 * mlp.up reads norm, that is the module "mlp". 0: there is no such module.
 */
static size_t module_length(const char *source, const char *reader)
{
    size_t common = 0;
    for (size_t i = 0; source[i] && source[i] == reader[i]; i++)
        if (source[i] == '.')
            common = i + 1;
    const char *dot = strchr(reader + common, '.');
    return dot ? (size_t)(dot - reader) : 0;
}

/* Returns the last layer of the module that gets the source's result as argument. If there is no
 * such module, returns the reader. */
static size_t module_end(const struct plan *plan, size_t source, size_t reader)
{
    const char *name = plan->layers[reader].layer->name;
    const size_t length = module_length(plan->layers[source].layer->name, name);
    while (length > 0 && reader + 1 < plan->layer_count &&
           strncmp(plan->layers[reader + 1].layer->name, name, length) == 0 &&
           plan->layers[reader + 1].layer->name[length] == '.')
        reader++;
    return reader;
}

void plan_holds(struct plan *plan)
{
    for (size_t i = 0; i < plan->layer_count; i++)
        plan->layers[i].held_until = plan->layers[i].layer->held_until;
    for (size_t reader = 0; reader < plan->layer_count; reader++) {
        const struct plan_layer *planned = &plan->layers[reader];
        for (size_t i = 0; i < planned->layer->input_count; i++) {
            const size_t source = planned->inputs[i];
            const size_t end = source == MODEL_INPUT ? reader : module_end(plan, source, reader);
            if (end > reader && end > plan->layers[source].held_until)
                plan->layers[source].held_until = end;
        }
    }
    for (size_t source = 0; source < plan->layer_count; source++) {
        struct plan_layer *planned = &plan->layers[source];
        if (planned->held_until == 0)
            continue;
        planned->readers++;
        planned->inner_readers += plan->layers[planned->held_until].segment == planned->segment;
        planned->also = plan->layers[planned->held_until].returns;
        plan->layers[planned->held_until].returns = source + 1;
    }
}
