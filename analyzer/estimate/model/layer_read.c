/* SPDX-License-Identifier: MIT */
/* One layer of a model file; see layer_read.h. */
#include "layer_read.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "analyzer/util/name_list.h"
#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"
#include "analyzer/estimate/layer/layer_kinds.h"

struct field_rule {
    const char *name, *aliases;
    enum field_type type;
    uint64_t least;
    size_t offset; /* in struct layer_fields */
};

_Static_assert(FIELD_COUNT <= 64, "sets of fields are bits of a uint64_t");

static const struct field_rule field_rules[FIELD_COUNT] = {
#define FIELD(name, type, least, standard, aliases, text)                                          \
    {#name, aliases, FIELD_TYPE_##type, least, offsetof(struct layer_fields, name)},
#include "analyzer/estimate/layer/fields.def"
};

static const char ignored_names[] =
#define IGNORED(name) #name ","
#include "ignored_fields.def"
    "type,name,from,if";

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
    char shown[JSON_SHOWN_BYTES], hint[NEAREST_HINT_BYTES];
    const char *names[FIELD_COUNT];
    size_t count = 0;
    struct text taken;
    text_init(&taken, 200);
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (!(layer->kind->fields & (UINT64_C(1) << i)))
            continue;
        text_addf(&taken, "%s%s", taken.length ? ", " : "", field_rules[i].name);
        names[count++] = field_rules[i].name;
    }
    layer_fail(layer, NULL, err, "has no field %s; it takes %s%s", json_shown_text(key, shown),
               taken.length ? taken.data : "none", nearest_hint(hint, key, names, count));
    text_release(&taken);
    return -1;
}

/* Takes one number for all dimensions, or one number for each. */
static int take_sizes(const struct layer *layer, const json_t *value, uint64_t least,
                      uint64_t sizes[SPATIAL_MAX], struct err *err)
{
    unsigned count, rank = layer->kind->rank;
    if (json_take_integers(value, least, FIELD_MOST, sizes, rank, &count, err))
        return -1;
    if (count != 1 && count != rank)
        return err_set(err, ERR_INPUT, "must have 1 or %u numbers, not %u", rank, count);
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

/* Returns the plain JSON of a field's value. For a flag, that is whether its expression holds. */
static json_t *plain_value(const struct field_rule *rule, const json_t *value,
                           struct dimensions *dimensions, struct err *err)
{
    bool holds;
    if (rule->type != FIELD_TYPE_FLAG || !json_is_string(value))
        return dimensions_plain(dimensions, value, err);
    return dimensions_holds(dimensions, value, &holds, err) ? NULL : json_boolean(holds);
}

static int read_field(struct layer *layer, const char *key, const json_t *value,
                      struct dimensions *dimensions, struct err *err)
{
    struct err inner = {0};
    if (name_list_has(ignored_names, key))
        return 0;
    int field = find_field(key);
    if (field < 0 || !(layer->kind->fields & (UINT64_C(1) << field)))
        return fail_key(layer, key, err);
    if (layer_gives(layer, (enum layer_field)field))
        return layer_fail(layer, key, err, "is given twice, under two names");
    json_t *plain = plain_value(&field_rules[field], value, dimensions, &inner);
    int result = plain ? take_value(layer, &field_rules[field], plain, &inner) : -1;
    json_decref(plain);
    if (result)
        return layer_fail(layer, key, err, "%s", inner.message);
    layer->given |= UINT64_C(1) << field;
    return 0;
}

/* --- one layer --- */

static int fail_layer(size_t index, struct err *err, const char *message, const char *detail)
{
    return err_set(err, ERR_INPUT, "layer %zu: %s%s", index, message, detail);
}

static int check_required(const struct layer *layer, struct err *err)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if ((layer->kind->required & (UINT64_C(1) << i)) &&
            !layer_gives(layer, (enum layer_field)i))
            return layer_fail(layer, field_rules[i].name, err, "is missing");
    return 0;
}

static void fail_kind(const char *typed, const char *shown, size_t index, struct err *err)
{
    const char *nearest = layer_kind_nearest(typed);
    char detail[2 * JSON_SHOWN_BYTES];
    snprintf(detail, sizeof detail, nearest ? "%s; did you mean '%s'?" : "%s", shown, nearest);
    fail_layer(index, err, "field 'type': unknown layer type ", detail);
}

static const struct layer_kind *read_kind(const json_t *object, size_t index,
                                          struct dimensions *dimensions, struct err *err)
{
    char shown[JSON_SHOWN_BYTES], name[LAYER_TYPE_BYTES];
    const json_t *type = json_object_get(object, "type");
    struct err inner = {0};
    if (!json_is_object(object)) {
        fail_layer(index, err, "must be an object, not ", json_shown(object, shown));
        return NULL;
    }
    if (!json_is_string(type)) {
        fail_layer(index, err, "field 'type' must be the name of a layer type, not ",
                   type ? json_shown(type, shown) : "missing");
        return NULL;
    }
    if (dimensions_fill(dimensions, json_string_value(type), name, sizeof name, &inner)) {
        fail_layer(index, err, "field 'type': ", inner.message);
        return NULL;
    }
    const struct layer_kind *kind = layer_kind_find(name);
    if (!kind)
        fail_kind(name, json_shown_text(name, shown), index, err);
    return kind;
}

int layer_read(struct layer *layer, json_t *object, const char *name, size_t index,
               struct dimensions *dimensions, struct err *err)
{
    const struct layer_kind *kind = read_kind(object, index, dimensions, err);
    const char *key;
    json_t *value;
    if (!kind)
        return -1;
    layer_init(layer, kind, index);
    memcpy(layer->name, name, strnlen(name, sizeof layer->name - 1));
    json_object_foreach(object, key, value)
    {
        if (read_field(layer, key, value, dimensions, err))
            return -1;
    }
    return check_required(layer, err);
}
