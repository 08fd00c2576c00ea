/* SPDX-License-Identifier: MIT */
/* Completes a file from families; see like.h. */
#include "like.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "analyzer/util/nearest.h"
#include "dimensions.h"
#include "families.h"

#define LIKE_MOST 4 /* longest chain of files, each of which is like the next */

static const char *const name_fields[] = {CONFIG_FIELD, DIMENSIONS_FIELD};
#define NAME_FIELDS (sizeof name_fields / sizeof *name_fields)

/* --- completing --- */

static bool has_name(const json_t *file, const char *name)
{
    for (size_t i = 0; i < NAME_FIELDS; i++)
        if (json_object_get(json_object_get(file, name_fields[i]), name))
            return true;
    return false;
}

/* Returns the file's object of that field, and makes it if it is missing. */
static json_t *own_names(json_t *file, const char *field)
{
    if (!json_object_get(file, field) && json_object_set_new(file, field, json_object()))
        return NULL;
    return json_object_get(file, field);
}

/*
 * Adds the base's names that the file has in neither field. A field that is no object is
 * refused later, when the file is read.
 */
static int complete_names(json_t *file, json_t *base)
{
    const char *name;
    json_t *value;
    for (size_t i = 0; i < NAME_FIELDS; i++) {
        json_object_foreach(json_object_get(base, name_fields[i]), name, value)
        {
            json_t *own = own_names(file, name_fields[i]);
            if (!own ||
                (json_is_object(own) && !has_name(file, name) && json_object_set(own, name, value)))
                return -1;
        }
    }
    return 0;
}

/* Adds the base's keys, except "names" and "model_types", which belong to the base's own
 * configs. */
static int complete_from(json_t *file, json_t *base)
{
    static const char *const own[] = {"like", "names", "model_types"};
    int result = complete_names(file, base);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (json_object_get(base, own[i]))
            result |= json_object_del(base, own[i]);
    return result ? -1 : json_object_update_missing(file, base);
}

static int fail_like(const json_t *like, struct err *err)
{
    char shown[JSON_SHOWN_BYTES], hint[FAMILY_HINT_BYTES];
    return err_set(err, ERR_INPUT, "field 'like' is %s, which is not a family%s",
                   json_shown(like, shown),
                   family_hint(hint, json_is_string(like) ? json_string_value(like) : ""));
}

/* Completes the file from one family. `known` collects the names of all families in the chain. */
static int complete_once(json_t *file, json_t *known, struct err *err)
{
    const json_t *like = json_object_get(file, "like");
    json_t *base = json_is_string(like) ? family_load(json_string_value(like)) : NULL;
    if (!base)
        return fail_like(like, err);
    json_t *next = json_incref(json_object_get(base, "like"));
    int result = 0;
    for (size_t i = 0; i < NAME_FIELDS; i++)
        if (json_object_get(base, name_fields[i]))
            result |= json_object_update(known, json_object_get(base, name_fields[i]));
    result = result || complete_from(file, base) ||
             (next ? json_object_set_new(file, "like", next) : json_object_del(file, "like"));
    json_decref(base);
    if (result)
        err_set(err, ERR_SYSTEM, "out of memory for the family");
    return result ? -1 : 0;
}

/* --- names that nothing uses --- */

static bool in_name(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

static bool text_mentions(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; length > 0 && (at = strstr(at, word)); at++)
        if ((at == text || !in_name(at[-1])) && !in_name(at[length]))
            return true;
    return false;
}

/* Returns whether the JSON mentions the word. Recursion is limited by the JSON parser's depth. */
static bool mentions(const json_t *json, const char *word)
{
    const char *key;
    json_t *value;
    if (json_is_string(json))
        return text_mentions(json_string_value(json), word);
    for (size_t i = 0; i < json_array_size(json); i++)
        if (mentions(json_array_get(json, i), word))
            return true;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        if (mentions(value, word))
            return true;
    }
    return false;
}

static int fail_unused(const json_t *known, const char *name, struct err *err)
{
    const char *names[2 * DIMENSIONS_MOST], *key;
    char shown[JSON_SHOWN_BYTES], hint[NEAREST_HINT_BYTES];
    json_t *value;
    size_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)known, key, value)
    {
        if (count < sizeof names / sizeof *names)
            names[count++] = key;
    }
    return err_set(err, ERR_INPUT,
                   "dimension %s: the family has none of that name, and nothing uses it%s",
                   json_shown_text(name, shown), nearest_hint(hint, name, names, count));
}

static int check_used(const json_t *file, const json_t *known, struct err *err)
{
    static const char *const users[] = {CONFIG_FIELD, DIMENSIONS_FIELD, "input", "layers"};
    const char *name;
    json_t *value;
    for (size_t i = 0; i < NAME_FIELDS; i++) {
        json_object_foreach(json_object_get(file, name_fields[i]), name, value)
        {
            bool used = json_object_get(known, name);
            for (size_t j = 0; !used && j < sizeof users / sizeof *users; j++)
                used = mentions(json_object_get(file, users[j]), name);
            if (!used)
                return fail_unused(known, name, err);
        }
    }
    return 0;
}

/* --- the whole --- */

int like_complete(json_t *file, struct err *err)
{
    json_t *known = json_object_get(file, "like") ? json_object() : NULL;
    int result = 0;
    for (int depth = 0; depth < LIKE_MOST && !result && json_object_get(file, "like"); depth++)
        result = complete_once(file, known, err);
    if (!result && known)
        result = check_used(file, known, err);
    json_decref(known);
    return result;
}
