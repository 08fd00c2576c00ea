/* SPDX-License-Identifier: MIT */
/*
 * The table of layer types and what is asked of a layer whatever its type. Formulas stand in
 * shape.c, parameters.c and extra.c.
 */
#include "layer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

const struct layer_kind *layer_kind_find(const char *name)
{
    for (size_t i = 0; i < layer_kind_count; i++)
        if (strcmp(layer_kinds[i].name, name) == 0)
            return &layer_kinds[i];
    return NULL;
}

/* --- shapes and tensors --- */

uint64_t shape_elements(const struct shape *shape, struct checked *checked)
{
    uint64_t elements = 1;
    for (unsigned i = 0; i < shape->rank; i++)
        elements = checked_mul(checked, elements, shape->dims[i]);
    return elements;
}

const char *shape_text(const struct shape *shape, char text[SHAPE_TEXT_BYTES])
{
    size_t used = 0;
    if (shape->rank == 0)
        return "scalar";
    for (unsigned i = 0; i < shape->rank && used < SHAPE_TEXT_BYTES; i++) {
        int length = snprintf(text + used, SHAPE_TEXT_BYTES - used, "%s%" PRIu64, i ? " x " : "",
                              shape->dims[i]);
        used += length > 0 ? (size_t)length : 0;
    }
    return text;
}

void tensors_add(struct tensors *tensors, enum category category, uint64_t element_bytes,
                 uint64_t elements, uint64_t count)
{
    if (tensors->count == TENSORS_MAX) {
        tensors->checked.overflow = true;
        return;
    }
    checked_mul3(&tensors->checked, element_bytes, elements, count);
    tensors->items[tensors->count++] = (struct tensor){category, element_bytes, elements, count};
}

uint64_t tensors_elements(struct tensors *tensors, enum category category)
{
    uint64_t total = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i];
        if (tensor->category == category)
            total = checked_add(&tensors->checked, total,
                                checked_mul(&tensors->checked, tensor->elements, tensor->count));
    }
    return total;
}

uint64_t tensors_bytes(struct tensors *tensors, enum category category)
{
    uint64_t total = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i];
        if (tensor->category == category)
            total = checked_add(&tensors->checked, total,
                                checked_mul3(&tensors->checked, tensor->elements, tensor->count,
                                             tensor->element_bytes));
    }
    return total;
}

/* --- layers --- */

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

bool layer_gives(const struct layer *layer, enum layer_field field)
{
    return layer->given & (UINT32_C(1) << field);
}

/* Dropout that drops nothing, or in evaluation, hands its input on. */
static bool drops_nothing(const struct layer *layer, bool training)
{
    return (layer->kind->traits & TRAIT_train) && (!training || layer->fields.p <= 0);
}

bool layer_keeps_storage(const struct layer *layer, bool training)
{
    return (layer->kind->traits & TRAIT_view) || layer->fields.inplace ||
           drops_nothing(layer, training);
}

/* Pooling to one value is a mean, whose gradient needs no input. */
static bool is_mean(const struct layer *layer)
{
    if (layer->kind->shape != shape_adaptive)
        return false;
    SIZES_FOR_EACH(i, layer)
    if (layer->fields.output[i] != 1)
        return false;
    return true;
}

unsigned layer_saves(const struct layer *layer)
{
    if (is_mean(layer))
        return SAVES_none;
    return layer->fields.inplace ? layer->kind->saves_inplace : layer->kind->saves;
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
    err_set(err, ERR_INPUT, "layer %zu (%s)%s%s%s: %s", layer->index, layer->kind->name,
            field ? ", field '" : "", field ? field : "", field ? "'" : "", message);
    return -1;
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
