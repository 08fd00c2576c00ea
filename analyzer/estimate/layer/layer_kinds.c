/* SPDX-License-Identifier: MIT */
/* The table of layer types; see layer_kinds.h. */
#include "layer_kinds.h"

#include <string.h>

#include "layer_formulas.h"
#include "analyzer/util/nearest.h"

const struct layer_kind layer_kinds[] = {
#define LAYER(name, rank, shape, parameters, fields, required, saves, inplace, extra, backward,    \
              traits)                                                                              \
    {#name,                                                                                        \
     rank,                                                                                         \
     fields,                                                                                       \
     required,                                                                                     \
     SAVES_##saves,                                                                                \
     SAVES_##inplace,                                                                              \
     traits,                                                                                       \
     shape_##shape,                                                                                \
     parameters_##parameters,                                                                      \
     extra_##extra,                                                                                \
     backward_##backward},
#include "layers.def"
};

const size_t layer_kind_count = sizeof layer_kinds / sizeof layer_kinds[0];

static const struct {
    const char *name, *type;
} activations[] = {
#define ACTIVATION(name, type) {name, #type},
#include "activations.def"
};

const struct layer_kind *layer_kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (strcmp(activations[i].name, name) == 0)
            name = activations[i].type;
    for (size_t i = 0; i < layer_kind_count; i++)
        if (strcmp(layer_kinds[i].name, name) == 0)
            return &layer_kinds[i];
    return NULL;
}

const char *layer_kind_nearest(const char *typed)
{
    static const char *const names[] = {
#define LAYER(name, rank, shape, parameters, fields, required, saves, inplace, extra, backward,    \
              traits)                                                                              \
#name,
#include "layers.def"
#define ACTIVATION(name, type) name,
#include "activations.def"
    };
    return nearest_name(typed, names, sizeof names / sizeof *names);
}
