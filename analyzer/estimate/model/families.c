/* SPDX-License-Identifier: MIT */
/* Embedded model files; see families.h. */
#include "families.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "analyzer/util/json_field.h"
#include "analyzer/util/json_read.h"
#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"
#include "like.h"

/* The files' texts, which family_files.S embeds. */
#define FAMILY(name) extern const char family_##name[];
#include "families.def"

static const struct {
    const char *name, *text;
} files[] = {
#define FAMILY(name) {#name, family_##name},
#include "families.def"
};

#define FAMILY_COUNT (sizeof files / sizeof *files)
#define LISTED_MOST_BYTES 8000

const char *family_hint(char hint[FAMILY_HINT_BYTES], const char *typed)
{
    const char *names[FAMILY_COUNT];
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        names[i] = files[i].name;
    return nearest_hint(hint, typed, names, FAMILY_COUNT);
}

json_t *family_load(const char *name)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(files[i].name, name) == 0)
            return json_read_text(files[i].text, NULL);
    return NULL;
}

/* --- by model_type --- */

static bool has_type(const json_t *family, const char *model_type)
{
    const json_t *types = json_object_get(family, "model_types");
    for (size_t i = 0; i < json_array_size(types); i++)
        if (strcmp(json_string_value(json_array_get(types, i)), model_type) == 0)
            return true;
    return false;
}

#define TYPES_MOST 100

static void fail_memory(struct err *err)
{
    err_set(err, ERR_SYSTEM, "out of memory for the families");
}

static void fail_type(const char *model_type, struct err *err)
{
    json_t *all = json_array(), *type;
    const char *names[TYPES_MOST];
    char shown[JSON_SHOWN_BYTES], hint[NEAREST_HINT_BYTES];
    struct text known;
    size_t j, count = 0;
    bool failed = !all;
    text_init(&known, LISTED_MOST_BYTES);
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        json_t *family = json_read_text(files[i].text, NULL);
        failed |= !family;
        json_array_foreach(json_object_get(family, "model_types"), j, type)
        {
            if (count < TYPES_MOST && !json_array_append(all, type))
                names[count++] = json_string_value(type);
            else
                failed = true;
        }
        json_decref(family);
    }
    for (size_t i = 0; i < count; i++)
        text_addf(&known, "%s%s", i ? ", " : "", names[i]);
    if (failed || text_failed(&known))
        fail_memory(err);
    else
        err_set(err, ERR_INPUT,
                "model_type %s is unknown%s; known are %s; others: samples/describe_torch.py "
                "writes a file of layers from the module",
                json_shown_text(model_type, shown), nearest_hint(hint, model_type, names, count),
                known.data);
    text_release(&known);
    json_decref(all);
}

json_t *family_open(const char *model_type, struct err *err)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        json_t *family = json_read_text(files[i].text, NULL);
        const bool is_it = family && has_type(family, model_type);
        if (is_it && !like_complete(family, err))
            return family;
        json_decref(family);
        if (is_it || !family) {
            fail_memory(err); /* the embedded files are valid, so only memory can fail */
            return NULL;
        }
    }
    fail_type(model_type, err);
    return NULL;
}

/* --- by name --- */

/* Returns the config of that name in the family. A family's names are in lower case. */
static json_t *find_name(const json_t *family, const char *name)
{
    const char *known;
    json_t *config;
    json_object_foreach(json_object_get(family, "names"), known, config)
    {
        if (strcasecmp(known, name) == 0)
            return json_incref(config);
    }
    return NULL;
}

json_t *family_named(const char *name, json_t **config, struct err *err)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        json_t *family = json_read_text(files[i].text, NULL);
        *config = find_name(family, name);
        if (*config && !like_complete(family, err))
            return family;
        json_decref(*config);
        json_decref(family);
    }
    return NULL;
}

json_t *family_names(void)
{
    json_t *all = json_object();
    const char *name;
    json_t *config;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        json_t *family = json_read_text(files[i].text, NULL), *listed = json_array();
        int result = 0;
        json_object_foreach(json_object_get(family, "names"), name, config)
        {
            result |= json_array_append_new(listed, json_string(name));
        }
        result |= json_object_set_new(all, files[i].name, listed);
        json_decref(family);
        if (result) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}
