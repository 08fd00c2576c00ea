/* SPDX-License-Identifier: MIT */
/* A list of layers as a model; see layer_list.h. */
#include "layer_list.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/text.h"
#include "analyzer/util/json_field.h"
#include "layer_kinds.h"
#include "analyzer/util/name_list.h"

#define SCHEMA "gpumemtrace.model/1"
#define INPUT_RANK_MOST 4

struct field_rule {
    const char *name, *aliases;
    enum field_type type;
    uint64_t least;
    size_t offset; /* in struct layer_fields */
};

_Static_assert(FIELD_COUNT <= 32, "sets of fields are bits of a uint32_t");

static const struct field_rule field_rules[FIELD_COUNT] = {
#define FIELD(name, type, least, standard, aliases, text)                                          \
    {#name, aliases, FIELD_TYPE_##type, least, offsetof(struct layer_fields, name)},
#include "fields.def"
};

static const char ignored_names[] =
#define IGNORED(name) #name ","
#include "ignored_fields.def"
    "type,name";

/* --- one field --- */

static int find_field(const char *key)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (strcmp(field_rules[i].name, key) == 0 || name_list_has(field_rules[i].aliases, key))
            return i;
    return -1;
}

static int fail_key(const struct layer *layer, const char *key, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    struct text taken;
    text_init(&taken, 200);
    for (int i = 0; i < FIELD_COUNT; i++)
        if (layer->kind->fields & (UINT32_C(1) << i))
            text_addf(&taken, "%s%s", taken.length ? ", " : "", field_rules[i].name);
    layer_fail(layer, NULL, err, "has no field %s; it takes %s", json_shown_text(key, shown),
               taken.length ? taken.data : "none");
    text_release(&taken);
    return -1;
}

/* One number for all dimensions, or one for each. */
static int take_sizes(const struct layer *layer, const json_t *value, uint64_t least,
                      uint64_t sizes[SPATIAL_MAX], struct err *err)
{
    unsigned count, rank = layer->kind->rank;
    if (json_take_integers(value, least, FIELD_MOST, sizes, rank, &count, err))
        return -1;
    if (count != 1 && count != rank) {
        err_set(err, ERR_INPUT, "must have 1 or %u numbers, not %u", rank, count);
        return -1;
    }
    for (unsigned i = count; i < SPATIAL_MAX; i++)
        sizes[i] = sizes[0];
    return 0;
}

static int take_value(struct layer *layer, const struct field_rule *rule, const json_t *value,
                      struct err *err)
{
    void *member = (char *)&layer->fields + rule->offset;
    struct shape *shape = member;
    switch (rule->type) {
    case FIELD_TYPE_COUNT:
        return json_take_integer(value, rule->least, FIELD_MOST, member, err);
    case FIELD_TYPE_SIZES:
        return take_sizes(layer, value, rule->least, member, err);
    case FIELD_TYPE_SHAPE:
        return json_take_integers(value, rule->least, FIELD_MOST, shape->dims, SHAPE_RANK_MAX,
                                  &shape->rank, err);
    case FIELD_TYPE_FLAG:
        return json_take_flag(value, member, err);
    case FIELD_TYPE_SHARE:
        return json_take_share(value, member, err);
    }
    return -1;
}

static int read_field(struct layer *layer, const char *key, const json_t *value, struct err *err)
{
    struct err inner = {0};
    if (name_list_has(ignored_names, key))
        return 0;
    int field = find_field(key);
    if (field < 0 || !(layer->kind->fields & (UINT32_C(1) << field)))
        return fail_key(layer, key, err);
    if (layer_gives(layer, (enum layer_field)field))
        return layer_fail(layer, key, err, "is given twice, under two names");
    if (take_value(layer, &field_rules[field], value, &inner))
        return layer_fail(layer, key, err, "%s", inner.message);
    layer->given |= UINT32_C(1) << field;
    return 0;
}

/* --- one layer --- */

static int fail_layer(size_t index, struct err *err, const char *message, const char *detail)
{
    err_set(err, ERR_INPUT, "layer %zu: %s%s", index, message, detail);
    return -1;
}

static int check_required(const struct layer *layer, struct err *err)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if ((layer->kind->required & (UINT32_C(1) << i)) &&
            !layer_gives(layer, (enum layer_field)i))
            return layer_fail(layer, field_rules[i].name, err, "is missing");
    return 0;
}

static int read_name(struct layer *layer, const json_t *object, struct err *err)
{
    const json_t *value = json_object_get(object, "name");
    struct err inner = {0};
    const char *name = "";
    if (value && json_take_text(value, &name, &inner))
        return layer_fail(layer, "name", err, "%s", inner.message);
    size_t length = strnlen(name, sizeof layer->name - 1);
    memcpy(layer->name, name, length);
    return 0;
}

static void fail_kind(const char *typed, const char *shown, size_t index, struct err *err)
{
    const char *nearest = layer_kind_nearest(typed);
    char detail[2 * JSON_SHOWN_BYTES];
    snprintf(detail, sizeof detail, nearest ? "%s; did you mean '%s'?" : "%s", shown, nearest);
    fail_layer(index, err, "field 'type': unknown layer type ", detail);
}

static const struct layer_kind *read_kind(const json_t *object, size_t index, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    const json_t *type = json_object_get(object, "type");
    if (!json_is_object(object)) {
        fail_layer(index, err, "must be an object, not ", json_shown(object, shown));
        return NULL;
    }
    if (!json_is_string(type)) {
        fail_layer(index, err, "field 'type' must be the name of a layer type, not ",
                   type ? json_shown(type, shown) : "missing");
        return NULL;
    }
    const struct layer_kind *kind = layer_kind_find(json_string_value(type));
    if (!kind)
        fail_kind(json_string_value(type), json_shown(type, shown), index, err);
    return kind;
}

static int read_layer(struct layer *layer, json_t *object, size_t index, struct err *err)
{
    const struct layer_kind *kind = read_kind(object, index, err);
    const char *key;
    json_t *value;
    if (!kind)
        return -1;
    layer_init(layer, kind, index);
    json_object_foreach(object, key, value) if (read_field(layer, key, value, err)) return -1;
    return read_name(layer, object, err) || check_required(layer, err) ? -1 : 0;
}

static int read_layers(struct model *model, const json_t *list, struct err *err)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count < 1 || count > MODEL_LAYERS_MOST) {
        err_set(err, ERR_INPUT, "field 'layers' must be a list of 1 to %d layers",
                MODEL_LAYERS_MOST);
        return -1;
    }
    model->layers = array_new(count, sizeof *model->layers, err);
    if (!model->layers)
        return -1;
    model->layer_count = count;
    for (size_t i = 0; i < count; i++)
        if (read_layer(&model->layers[i], json_array_get(list, i), i, err))
            return -1;
    return 0;
}

/* --- the model --- */

static int take_dtype(const json_t *value, enum dtype *dtype, struct err *err)
{
    const char *text;
    return json_take_text(value, &text, err) || dtype_parse(text, dtype, err) ? -1 : 0;
}

static int take_optimizer(const json_t *value, enum optimizer *optimizer, struct err *err)
{
    const char *text;
    return json_take_text(value, &text, err) || optimizer_parse(text, optimizer, err) ? -1 : 0;
}

static int take_schema(const json_t *value, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    const char *text;
    if (json_take_text(value, &text, err))
        return -1;
    if (strcmp(text, SCHEMA) == 0)
        return 0;
    err_set(err, ERR_INPUT, "is %s; this version reads '" SCHEMA "'", json_shown(value, shown));
    return -1;
}

static int take_name(const json_t *value, struct model *model, struct err *err)
{
    const char *text;
    if (json_take_text(value, &text, err))
        return -1;
    free(model->name);
    model->name = strdup(text);
    if (model->name)
        return 0;
    err_set(err, ERR_SYSTEM, "out of memory for the model's name");
    return -1;
}

static int take_key(struct model *model, const char *key, const json_t *value, struct err *err)
{
    struct settings *settings = &model->settings;
    if (strcmp(key, "schema") == 0)
        return take_schema(value, err);
    if (strcmp(key, "name") == 0)
        return take_name(value, model, err);
    if (strcmp(key, "input") == 0)
        return json_take_integers(value, 1, FIELD_MOST, model->input.dims, INPUT_RANK_MOST,
                                  &model->input.rank, err);
    if (strcmp(key, "dtype") == 0)
        return take_dtype(value, &settings->dtype, err);
    if (strcmp(key, "optimizer") == 0)
        return take_optimizer(value, &settings->optimizer, err);
    if (strcmp(key, "batch") == 0)
        return json_take_integer(value, 1, FIELD_MOST, &settings->batch, err);
    if (strcmp(key, "training") == 0)
        return json_take_flag(value, &settings->training, err);
    if (strcmp(key, "layers") == 0)
        return 0;
    err_set(err, ERR_INPUT,
            "is unknown; a model has schema, name, input, dtype, optimizer, batch, "
            "training and layers");
    return -1;
}

static int need_keys(const json_t *root, struct err *err)
{
    static const char *const needed[] = {"schema", "input", "layers"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!json_object_get(root, needed[i])) {
            err_set(err, ERR_INPUT, "is no model description: field '%s' is missing", needed[i]);
            return -1;
        }
    }
    return 0;
}

int layer_list_read(struct model *model, json_t *root, struct err *err)
{
    struct err inner = {0};
    char shown[JSON_SHOWN_BYTES];
    const char *key;
    json_t *value;
    model->kind = "layer-list";
    if (!json_is_object(root)) {
        err_set(err, ERR_INPUT, "is no model description: the outermost value is no object");
        return -1;
    }
    if (need_keys(root, err))
        return -1;
    json_object_foreach(root, key, value)
    {
        if (take_key(model, key, value, &inner)) {
            err_set(err, ERR_INPUT, "field %s %s", json_shown_text(key, shown), inner.message);
            return -1;
        }
    }
    return read_layers(model, json_object_get(root, "layers"), err);
}
