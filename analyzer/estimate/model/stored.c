/* SPDX-License-Identifier: MIT */
/* Finds a model's tensors in weight files; see stored.h. */
#include "stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

#define PREFIXES_MOST 8
#define FULL_NAME_BYTES (2 * LAYER_NAME_BYTES)

/* One search through all layers. */
struct match {
    struct model *model;
    const struct weights *weights;
    struct stored *stored;
    bool *taken;                      /* for each weight: whether it was found */
    char prefixes[PREFIXES_MOST][64]; /* first parts of names in the files, up to a dot */
    size_t prefix_count;
    size_t taken_count, closed_count; /* closed weights have a type that a model cannot run in */
    struct err *err;
};

void stored_free(struct stored *stored)
{
    if (!stored)
        return;
    free(stored->tensors);
    free(stored->differences);
    free(stored);
}

static bool is_open(const struct weight *weight)
{
    return weight->type->dtype != DTYPE_COUNT;
}

/* --- differences --- */

static int differ(struct match *match, const char *name, const char *described, const char *found)
{
    struct stored *stored = match->stored;
    if (ARRAY_GROW(stored->differences, stored->difference_capacity, stored->difference_count,
                   match->err))
        return -1;
    struct stored_difference *one = &stored->differences[stored->difference_count++];
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->described, sizeof one->described, "%s", described);
    snprintf(one->found, sizeof one->found, "%s", found);
    return 0;
}

static const char *weight_text(const struct weight *weight, char text[STORED_TEXT_BYTES])
{
    char shape[SHAPE_TEXT_BYTES];
    snprintf(text, STORED_TEXT_BYTES, "%s, %s", shape_text(&weight->shape, shape),
             weight->type->name);
    return text;
}

/* --- names --- */

static void note_prefix(struct match *match, const char *name)
{
    const char *dot = strchr(name, '.');
    const size_t length = dot ? (size_t)(dot - name + 1) : 0;
    if (length == 0 || length >= sizeof *match->prefixes || match->prefix_count == PREFIXES_MOST)
        return;
    for (size_t i = 0; i < match->prefix_count; i++)
        if (strncmp(match->prefixes[i], name, length) == 0 && match->prefixes[i][length] == 0)
            return;
    snprintf(match->prefixes[match->prefix_count++], sizeof *match->prefixes, "%.*s", (int)length,
             name);
}

/* Finds a weight. In the file of a base model, its name may lack the first part, or have one part
 * more. */
static const struct weight *find_weight(const struct match *match, const char *name)
{
    const struct weight *weight = weights_find(match->weights, name);
    const char *dot = strchr(name, '.');
    char longer[FULL_NAME_BYTES + sizeof *match->prefixes];
    if (!weight && dot)
        weight = weights_find(match->weights, dot + 1);
    for (size_t i = 0; !weight && i < match->prefix_count; i++) {
        snprintf(longer, sizeof longer, "%s%s", match->prefixes[i], name);
        weight = weights_find(match->weights, longer);
    }
    return weight;
}

static void take(struct match *match, const struct weight *weight)
{
    bool *taken = &match->taken[weight - match->weights->items];
    match->taken_count += !*taken;
    match->closed_count += !*taken && !is_open(weight);
    *taken = true;
}

/* --- one layer --- */

struct rest {
    uint64_t bytes, elements;
    bool is_open;
};

/*
 * Takes the other tensors that the files have for the layer: the scales and packed values of a
 * quantized weight, or the tensors of each expert.
 */
static struct rest take_rest(struct match *match, const char *layer)
{
    struct rest rest = {.is_open = true};
    const size_t length = strlen(layer);
    for (size_t i = 0; length > 0 && i < match->weights->count; i++) {
        const struct weight *weight = &match->weights->items[i];
        if (match->taken[i] || strncmp(weight->name, layer, length) != 0 ||
            weight->name[length] != '.')
            continue;
        rest.bytes += weight->bytes; /* the sum of all weights was checked */
        rest.elements += weight->elements;
        rest.is_open &= is_open(weight);
        take(match, weight);
    }
    return rest;
}

static int match_tensor(struct match *match, const struct tensor *tensor, const char *name,
                        const struct weight *weight, struct layer_stored *stored)
{
    char described[SHAPE_TEXT_BYTES], found[STORED_TEXT_BYTES];
    take(match, weight);
    *stored =
        (struct layer_stored){.known = true, .is_open = is_open(weight), .bytes = weight->bytes};
    if (!stored->is_open || tensor->shape.rank == 0 ||
        (tensor->shape.rank == weight->shape.rank &&
         memcmp(tensor->shape.dims, weight->shape.dims,
                tensor->shape.rank * sizeof *tensor->shape.dims) == 0))
        return 0;
    stored->known = false;
    return differ(match, name, shape_text(&tensor->shape, described), weight_text(weight, found));
}

static void full_name(char name[FULL_NAME_BYTES], const struct layer *layer,
                      const struct tensor *tensor)
{
    snprintf(name, FULL_NAME_BYTES, "%s%s%s", layer->name,
             layer->name[0] && tensor->name ? "." : "", tensor->name ? tensor->name : "");
}

static int report_missing(struct match *match, const struct layer *layer, const struct tensors *own,
                          const struct layer_stored *stored, const bool *found)
{
    char name[FULL_NAME_BYTES], described[SHAPE_TEXT_BYTES];
    for (size_t i = 0; i < own->count; i++) {
        const struct tensor *tensor = &own->items[i];
        if (found[i] || stored[i].known || tensor->category != CATEGORY_parameters)
            continue;
        full_name(name, layer, tensor);
        if (differ(match, name, shape_text(&tensor->shape, described), ""))
            return -1;
    }
    return 0;
}

/* Matches tensors that the files divide in another way, or pack into fewer values. */
static void match_pieces(struct match *match, const struct layer *layer, const struct tensors *own,
                         struct layer_stored *stored, const bool *found, bool has_closed)
{
    uint64_t missing = 0;
    size_t first = own->count;
    for (size_t i = 0; i < own->count; i++) {
        if (own->items[i].category != CATEGORY_parameters)
            continue;
        if (!found[i] || (has_closed && stored[i].known && !stored[i].is_open)) {
            first = first < own->count ? first : i;
            missing += found[i] ? 0 : own->items[i].elements;
        }
    }
    if (first == own->count)
        return;
    const struct rest rest = take_rest(match, layer->name);
    if (rest.bytes == 0)
        return;
    for (size_t i = first; i < own->count; i++)
        if (!found[i] && own->items[i].category == CATEGORY_parameters)
            stored[i] = (struct layer_stored){.known = true,
                                              .is_open = rest.is_open && rest.elements == missing,
                                              .bytes = own->items[i].elements *
                                                       (missing ? rest.bytes / missing : 0)};
    if (!rest.is_open || rest.elements != missing || has_closed) {
        for (size_t i = first + 1; i < own->count; i++)
            if (!found[i] && own->items[i].category == CATEGORY_parameters)
                stored[i].bytes = 0;
        stored[first].is_open = false;
        stored[first].bytes = (found[first] ? stored[first].bytes : 0) + rest.bytes;
    }
}

static int match_layer(struct match *match, struct layer *layer, struct layer_stored *stored)
{
    struct tensors own = {0};
    bool found[TENSORS_MAX] = {false}, has_closed = false;
    char name[FULL_NAME_BYTES];
    layer->kind->parameters(layer, match->model->settings.dtype, &own);
    layer->stored = stored;
    for (size_t i = 0; i < own.count; i++) {
        full_name(name, layer, &own.items[i]);
        const struct weight *weight = *name ? find_weight(match, name) : NULL;
        found[i] = weight;
        if (weight && match_tensor(match, &own.items[i], name, weight, &stored[i]))
            return -1;
        has_closed |= weight && !is_open(weight);
    }
    match_pieces(match, layer, &own, stored, found, has_closed);
    return report_missing(match, layer, &own, stored, found);
}

/* --- the whole --- */

/* Returns the type of the most values, among the types that a model can run in. */
static enum dtype main_dtype(const struct weights *weights)
{
    uint64_t elements[DTYPE_COUNT] = {0};
    enum dtype most = DTYPE_COUNT;
    for (size_t i = 0; i < weights->count; i++)
        if (is_open(&weights->items[i]))
            elements[weights->items[i].type->dtype] += weights->items[i].elements;
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (elements[i] > 0 && (most == DTYPE_COUNT || elements[i] > elements[most]))
            most = (enum dtype)i;
    return most;
}

static int take_dtype(struct match *match)
{
    const enum dtype dtype = main_dtype(match->weights);
    enum dtype *own = &match->model->settings.dtype;
    if (dtype == DTYPE_COUNT || dtype == *own)
        return 0;
    const int result = differ(match, "(element type)", dtype_name(*own), dtype_name(dtype));
    *own = dtype;
    return result;
}

static int report_others(struct match *match)
{
    char text[STORED_TEXT_BYTES];
    for (size_t i = 0; i < match->weights->count; i++) {
        const struct weight *weight = &match->weights->items[i];
        if (match->taken[i])
            continue;
        match->stored->other_bytes += weight->bytes;
        if (differ(match, weight->name, "", weight_text(weight, text)))
            return -1;
    }
    return 0;
}

static int match_all(struct match *match)
{
    struct model *model = match->model;
    for (size_t i = 0; i < match->weights->count; i++)
        note_prefix(match, match->weights->items[i].name);
    if (take_dtype(match))
        return -1;
    for (size_t i = 0; i < model->layer_count; i++)
        if (match_layer(match, &model->layers[i], match->stored->tensors + i * TENSORS_MAX))
            return -1;
    if (match->taken_count == 0)
        return err_set(
            match->err, ERR_INPUT,
            "none of the %zu tensors in the files belongs to the model that config.json describes",
            match->weights->count);
    if (match->closed_count > 0) {
        model->settings.training = false;
        if (model_note(model,
                       "Quantized weights are counted as they lie in the files, and are not "
                       "trained: this is inference.",
                       match->err))
            return -1;
    }
    return report_others(match);
}

int stored_apply(struct model *model, const struct weights *weights, struct err *err)
{
    struct match match = {.model = model, .weights = weights, .err = err};
    int result = -1;
    match.stored = array_new(1, sizeof *match.stored, err);
    match.taken = array_new(weights->count, sizeof *match.taken, err);
    if (!match.stored || !match.taken)
        goto out;
    match.stored->tensors =
        array_new(model->layer_count * TENSORS_MAX, sizeof *match.stored->tensors, err);
    if (!match.stored->tensors || match_all(&match))
        goto out;
    result = 0;
out:
    free(match.taken);
    model->stored = match.stored;
    return result;
}
