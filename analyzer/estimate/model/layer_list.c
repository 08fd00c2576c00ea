/* SPDX-License-Identifier: MIT */
/* Reads a model file, except for its layers; see layer_list.h. */
#include "layer_list.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "analyzer/util/name_list.h"
#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"
#include "graph.h"

#define SCHEMA "gpumemtrace.model/1"
#define INPUT_RANK_MOST 4
#define NOTE_MOST_BYTES (1 << 20)

/* --- the model --- */

static int take_schema(const json_t *value, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    const char *text;
    if (json_take_text(value, &text, err))
        return -1;
    if (strcmp(text, SCHEMA) == 0)
        return 0;
    return err_set(err, ERR_INPUT, "is %s; this version reads '" SCHEMA "'",
                   json_shown(value, shown));
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
    return err_set(err, ERR_SYSTEM, "out of memory for the model's name");
}

/* Copies a list of texts into the model's notes. */
static int take_notes(const json_t *value, struct model *model, struct err *err)
{
    const char *text;
    const size_t count = json_array_size(value);
    if (!json_is_array(value) || count > MODEL_NOTES_MOST)
        return err_set(err, ERR_INPUT, "must be a list of at most %d texts", MODEL_NOTES_MOST);
    for (size_t i = 0; i < count; i++) {
        if (json_take_text(json_array_get(value, i), &text, err) || model_note(model, text, err))
            return -1;
    }
    return 0;
}

static int take_input(const json_t *value, struct model *model, struct dimensions *dimensions,
                      struct err *err)
{
    json_t *plain = dimensions_plain(dimensions, value, err);
    int result = plain ? json_take_integers(plain, 1, FIELD_MOST, model->input.dims,
                                            INPUT_RANK_MOST, &model->input.rank, err)
                       : -1;
    json_decref(plain);
    return result;
}

/* The message names all keys. */
static int fail_key(const char *key, struct err *err)
{
    static const char *const keys[] = {"schema",        "name",       "input",
#define SETTING(name, option, type, value, argument, standard, unit, effect) #name,
#include "settings.def"
                                       "training",      "notes",      "dimensions", "config",
                                       "nulls",         "like",       "names",      "model_types",
                                       "architectures", "registered", "layers"};
    char hint[NEAREST_HINT_BYTES];
    struct text known;
    text_init(&known, 600);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        text_addf(&known, "%s%s", i ? ", " : "", keys[i]);
    err_set(err, ERR_INPUT, "is unknown; a model has %s%s", known.data,
            nearest_hint(hint, key, keys, sizeof keys / sizeof *keys));
    text_release(&known);
    return -1;
}

static int take_key(struct model *model, struct dimensions *dimensions, const char *key,
                    const json_t *value, struct err *err)
{
    if (strcmp(key, "schema") == 0)
        return take_schema(value, err);
    if (strcmp(key, "name") == 0)
        return take_name(value, model, err);
    if (strcmp(key, "input") == 0)
        return take_input(value, model, dimensions, err);
    if (strcmp(key, "notes") == 0)
        return take_notes(value, model, err);
    const int taken = settings_take(&model->settings, key, value, err);
    if (taken <= 0)
        return taken;
    if (name_list_has("layers,registered,config,dimensions,nulls,names,model_types,architectures",
                      key))
        return 0;
    return fail_key(key, err);
}

static int need_keys(const json_t *root, struct err *err)
{
    static const char *const needed[] = {"schema", "input", "layers"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!json_object_get(root, needed[i]))
            return err_set(
                err, ERR_INPUT,
                "is not a model description: field '%s' is missing (or, in a config.json of "
                "Hugging Face, 'model_type')",
                needed[i]);
    }
    return 0;
}

static int read_keys(struct model *model, json_t *root, struct dimensions *dimensions,
                     struct err *err)
{
    struct err inner = {0};
    char shown[JSON_SHOWN_BYTES];
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        if (take_key(model, dimensions, key, value, &inner))
            return err_set(err, inner.code, "field %s %s", json_shown_text(key, shown),
                           inner.message);
    }
    return 0;
}

/* Returns a key of the config that is nearly the name, but that nothing reads; NULL: none. */
static const char *mistyped_key(const json_t *config, const struct dimensions *dimensions,
                                const char *name)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)config, key, value)
    {
        bool is_read = false;
        for (size_t i = 0; i < dimensions->count && !is_read; i++)
            is_read = strcmp(dimensions->items[i].name, key) == 0;
        if (!is_read && nearest_name(key, &name, 1))
            return key;
    }
    return NULL;
}

/* Adds a note of the sizes that the config lacks. The class's own sizes are used for them, but the
 * config may mean other sizes. */
static int note_missing(struct model *model, const json_t *config,
                        const struct dimensions *dimensions, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    struct text note;
    text_init(&note, NOTE_MOST_BYTES);
    for (size_t i = 0; i < dimensions->count; i++) {
        const struct dimension *dimension = &dimensions->items[i];
        if (dimension->is_key && dimension->source == DIMENSION_standard &&
            dimension->state == DIMENSION_known && json_is_integer(dimension->given)) {
            const char *mistyped = mistyped_key(config, dimensions, dimension->name);
            text_addf(&note, "%s%s (%" JSON_INTEGER_FORMAT,
                      note.length ? ", " : "The config lacks ", dimension->name,
                      json_integer_value(dimension->given));
            if (mistyped)
                text_addf(&note, "; is it %s?", json_shown_text(mistyped, shown));
            text_add(&note, ")");
        }
    }
    if (note.length)
        text_add(&note, ": counted with the class's own.");
    int result = 0;
    if (text_failed(&note)) {
        err_set(err, ERR_SYSTEM, "out of memory for the note of what the config lacks");
        result = -1;
    } else if (note.length) {
        result = model_note(model, note.data, err);
    }
    text_release(&note);
    return result;
}

/* --- sizes --- */

/* Returns the value of the first dimension that has one of the names; 0: there is none, or the
 * value is not a size. */
static uint64_t find_size(struct dimensions *dimensions, const char *names)
{
    for (size_t i = 0; i < dimensions->count; i++) {
        struct value value;
        struct err none = {0};
        if (name_list_has(names, dimensions->items[i].name) &&
            !expression_evaluate(dimensions->items[i].name, &dimensions->names, &value, &none) &&
            value.kind == VALUE_integer && value.integer > 0)
            return (uint64_t)value.integer;
    }
    return 0;
}

static struct model_sizes find_sizes(struct dimensions *dimensions)
{
    return (struct model_sizes){.sequence = find_size(dimensions, "sequence"),
                                .image_size = find_size(dimensions, "image_size"),
                                .positions =
                                    find_size(dimensions, "max_position_embeddings,n_positions")};
}

int layer_list_read(struct model *model, json_t *root, const struct given *given, struct err *err)
{
    struct dimensions dimensions;
    model->kind = "layer-list";
    if (!json_is_object(root))
        return err_set(err, ERR_INPUT,
                       "is not a model description: the outermost value is not an object");
    if (need_keys(root, err) || dimensions_read(&dimensions, root, err) ||
        given_apply(given, &dimensions, root, err) || read_keys(model, root, &dimensions, err))
        return -1;
    static const struct tuning none = {0};
    if (graph_read(model, root, &dimensions, given ? &given->tuning : &none, err))
        return -1;
    model->sizes = find_sizes(&dimensions);
    return given && given->config && !given->is_named
               ? note_missing(model, given->config, &dimensions, err)
               : 0;
}
