/* SPDX-License-Identifier: MIT */
/* Fields of a layer, and messages about it; see layer.h. */
#include "layer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* --- fields --- */

#define STANDARD_COUNT(name, value) fields->name = (value);
#define STANDARD_FLAG(name, value) fields->name = (value);
#define STANDARD_SHARE(name, value) fields->name = (value);
#define STANDARD_SHAPE(name, value) fields->name = (struct shape){.rank = (value)};
#define STANDARD_SIZES(name, value)                                                                \
    for (unsigned i = 0; i < SPATIAL_MAX; i++)                                                     \
        fields->name[i] = (value);

void layer_init(struct layer *layer, const struct layer_kind *kind, size_t index)
{
    struct layer_fields *fields = &layer->fields;
    *layer = (struct layer){.kind = kind, .index = index};
#define FIELD(name, type, least, standard, aliases, text) STANDARD_##type(name, standard)
#include "fields.def"
}

uint64_t layer_tied_elements(const struct layer *layer)
{
    const struct layer_fields *fields = &layer->fields;
    return !fields->tied ? 0 : fields->num ? fields->num * fields->dim : fields->in * fields->out;
}

bool layer_is_softmax(const struct layer *layer)
{
    return (layer->kind->traits & TRAIT_high) && layer->kind->saves == SAVES_result;
}

bool layer_gives(const struct layer *layer, enum layer_field field)
{
    return layer->given & (UINT64_C(1) << field);
}

/* Returns whether a layer of dropout does nothing, as it does in evaluation or with p = 0. */
static bool drops_nothing(const struct layer *layer, bool training)
{
    return (layer->kind->traits & TRAIT_train) && (!training || layer->fields.p <= 0);
}

bool layer_keeps_storage(const struct layer *layer, bool training)
{
    return (layer->kind->traits & TRAIT_view) || layer->fields.inplace ||
           drops_nothing(layer, training);
}

/* --- failing --- */

int layer_fail(const struct layer *layer, const char *field, struct err *err, const char *format,
               ...)
{
    char message[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return err_set(err, ERR_INPUT, "layer %zu (%s)%s%s%s%s%s: %s", layer->index, layer->kind->name,
                   layer->name[0] ? " " : "", layer->name, field ? ", field '" : "",
                   field ? field : "", field ? "'" : "", message);
}

struct largest {
    const char *name;
    uint64_t value;
};

static void largest_offer(struct largest *largest, const char *name, uint64_t value)
{
    if (value > largest->value)
        *largest = (struct largest){name, value};
}

#define OFFER_COUNT(name) largest_offer(&largest, #name, fields->name);
#define OFFER_SIZES(name)                                                                          \
    for (unsigned i = 0; i < SPATIAL_MAX; i++)                                                     \
        largest_offer(&largest, #name, fields->name[i]);
#define OFFER_SHAPE(name)                                                                          \
    for (unsigned i = 0; i < fields->name.rank; i++)                                               \
        largest_offer(&largest, #name, fields->name.dims[i]);
#define OFFER_FLAG(name)
#define OFFER_SHARE(name)

int layer_fail_overflow(const struct layer *layer, struct err *err)
{
    const struct layer_fields *fields = &layer->fields;
    struct largest largest = {"input", 1};
#define FIELD(name, type, least, standard, aliases, text) OFFER_##type(name)
#include "fields.def"
    if (largest.value == 1)
        return layer_fail(layer, NULL, err, "its input is too large to count in 64 bits");
    return layer_fail(layer, largest.name, err,
                      "%" PRIu64 " makes the layer too large to count in 64 bits", largest.value);
}
