/* SPDX-License-Identifier: MIT */
/* Named values, computed when they are first used; see dimensions.h. */
#include "dimensions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"

#define INDEX_NAME "index"
#define OUTER_NAME "outer"

static struct dimension *find_dimension(struct dimensions *dimensions, const char *name)
{
    for (size_t i = 0; i < dimensions->count; i++)
        if (strcmp(dimensions->items[i].name, name) == 0)
            return &dimensions->items[i];
    return NULL;
}

/* Makes a hint from a longer name, as "; did you mean 'decoder_sequence'?" for 'sequence', or
 * "". */
static const char *longer_hint(char hint[NEAREST_HINT_BYTES], const char *typed,
                               const char *const *names, size_t count)
{
    const size_t length = strlen(typed);
    for (size_t i = 0; i < count; i++) {
        const size_t whole = strlen(names[i]);
        if (length > 0 && whole > length && whole <= NEAREST_NAME_MAX &&
            names[i][whole - length - 1] == '_' && strcmp(names[i] + whole - length, typed) == 0) {
            snprintf(hint, NEAREST_HINT_BYTES, "; did you mean '%s'?", names[i]);
            break;
        }
    }
    return hint;
}

static int fail_unknown(struct dimensions *dimensions, const char *name, struct err *err)
{
    const char *names[DIMENSIONS_MOST];
    char shown[JSON_SHOWN_BYTES], hint[NEAREST_HINT_BYTES];
    for (size_t i = 0; i < dimensions->count; i++)
        names[i] = dimensions->items[i].name;
    if (!*nearest_hint(hint, name, names, dimensions->count))
        longer_hint(hint, name, names, dimensions->count);
    return err_set(err, ERR_INPUT, "%s is not a dimension of the model%s",
                   json_shown_text(name, shown), hint);
}

/* --- computing --- */

static int compute(struct dimensions *dimensions, struct dimension *dimension, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    struct err inner = {0};
    const bool is_expression =
        json_is_string(dimension->given) && dimension->source <= DIMENSION_null;
    const uint64_t *index = dimensions->index, *outer = dimensions->outer;
    dimension->state = DIMENSION_computing;
    /* a dimension is computed once, not in each repetition of a block */
    dimensions->index = dimensions->outer = NULL;
    dimensions->depth++;
    int result = is_expression ? expression_evaluate(json_string_value(dimension->given),
                                                     &dimensions->names, &dimension->value, &inner)
                               : value_of_json(dimension->given, &dimension->value, &inner);
    dimensions->depth--;
    dimensions->index = index;
    dimensions->outer = outer;
    if (result) {
        dimension->state = DIMENSION_untouched;
        return err_set(err, inner.code, "dimension %s: %s", json_shown_text(dimension->name, shown),
                       inner.message);
    }
    dimension->state = DIMENSION_known;
    return 0;
}

static bool is_counter(const char *name)
{
    return strcmp(name, INDEX_NAME) == 0 || strcmp(name, OUTER_NAME) == 0;
}

static int find_counter(const struct dimensions *dimensions, const char *name, struct value *value,
                        struct err *err)
{
    const bool is_index = strcmp(name, INDEX_NAME) == 0;
    const uint64_t *counter = is_index ? dimensions->index : dimensions->outer;
    if (counter) {
        *value = value_of_integer((int64_t)*counter);
        return 0;
    }
    return err_set(err, ERR_INPUT, "'%s' is known in the layers of a repeated block%s only", name,
                   is_index ? "" : " within another");
}

static int find_value(struct names *names, const char *name, struct value *value, struct err *err)
{
    struct dimensions *dimensions = (struct dimensions *)names;
    struct dimension *dimension = find_dimension(dimensions, name);
    if (is_counter(name))
        return find_counter(dimensions, name, value, err);
    if (!dimension)
        return fail_unknown(dimensions, name, err);
    if (dimension->state == DIMENSION_computing)
        return err_set(err, ERR_INPUT, "'%s' depends on itself", dimension->name);
    if (dimensions->depth == DIMENSIONS_DEPTH_MOST)
        return err_set(err, ERR_INPUT, "'%s' depends on a chain of more than %d names",
                       dimension->name, DIMENSIONS_DEPTH_MOST);
    if (dimension->state == DIMENSION_untouched && compute(dimensions, dimension, err))
        return -1;
    *value = dimension->value;
    return 0;
}

/* --- values from the caller --- */

static int fail_name(const char *name, const char *what, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    return err_set(err, ERR_INPUT, "dimension %s %s", json_shown_text(name, shown), what);
}

/* Reads the names of one object of the file. */
static int read_names(struct dimensions *dimensions, const json_t *file, const char *field,
                      bool are_keys, struct err *err)
{
    json_t *object = json_object_get(file, field), *value;
    const char *name;
    if (object &&
        (!json_is_object(object) || json_object_size(object) > DIMENSIONS_MOST - dimensions->count))
        return err_set(err, ERR_INPUT, "field '%s' must be an object, with at most %d names in all",
                       field, DIMENSIONS_MOST);
    json_object_foreach(object, name, value)
    {
        if (strlen(name) >= NAME_MOST_BYTES || is_counter(name))
            return fail_name(name, "cannot be called so", err);
        if (json_is_null(value))
            return fail_name(name, "must be a number, a text, true, false or a list", err);
        if (find_dimension(dimensions, name))
            return fail_name(name, "is in both 'config' and 'dimensions'", err);
        dimensions->items[dimensions->count++] =
            (struct dimension){.name = name, .standard = value, .given = value, .is_key = are_keys};
    }
    return 0;
}

int dimensions_read(struct dimensions *dimensions, const json_t *file, struct err *err)
{
    *dimensions = (struct dimensions){.names = {.find = find_value}};
    return read_names(dimensions, file, CONFIG_FIELD, true, err) ||
                   read_names(dimensions, file, DIMENSIONS_FIELD, false, err)
               ? -1
               : 0;
}

int dimensions_add(struct dimensions *dimensions, const char *name, const json_t *value,
                   struct err *err)
{
    if (find_dimension(dimensions, name) || dimensions->count == DIMENSIONS_MOST)
        return fail_name(name, "exists already, or there are too many", err);
    dimensions->items[dimensions->count++] =
        (struct dimension){.name = name, .given = value, .source = DIMENSION_config};
    return 0;
}

void dimensions_give(struct dimensions *dimensions, const json_t *config, const json_t *nulls)
{
    for (size_t i = 0; i < dimensions->count; i++) {
        struct dimension *dimension = &dimensions->items[i];
        const json_t *value = json_object_get(config, dimension->name);
        const bool is_null = json_is_null(value);
        if (is_null)
            value = json_object_get(nulls, dimension->name);
        if (!dimension->is_key || !value)
            continue;
        dimension->given = value;
        dimension->source = is_null ? DIMENSION_null : DIMENSION_config;
    }
}

int dimensions_give_one(struct dimensions *dimensions, const char *name, const json_t *value,
                        struct err *err)
{
    struct dimension *dimension = find_dimension(dimensions, name);
    if (!dimension)
        return fail_unknown(dimensions, name, err);
    dimension->given = value;
    dimension->source = DIMENSION_option;
    return 0;
}

/* --- kinds of values --- */

/* Follows dimensions whose value is another dimension's. The first name may be its own value's. */
static const json_t *followed(struct dimensions *dimensions, const json_t *standard)
{
    for (unsigned i = 0; i < DIMENSIONS_DEPTH_MOST && json_is_string(standard); i++) {
        const struct dimension *other = find_dimension(dimensions, json_string_value(standard));
        if (!other || !other->standard)
            break;
        standard = other->standard;
    }
    return standard;
}

/* Returns what the value of an expression, or a list, asks of a value in its place. If the
 * expression has no value, another value is wrong, and its own check says so. */
static const char *wanted_like(struct dimensions *dimensions, const json_t *standard,
                               const struct dimension *dimension)
{
    struct value value, given;
    struct err none = {0};
    const int result =
        json_is_string(standard)
            ? expression_evaluate(json_string_value(standard), &dimensions->names, &value, &none)
            : value_of_json(standard, &value, &none);
    const bool is_flag = json_is_boolean(dimension->given) && dimension->is_key;
    if (result || value_of_json(dimension->given, &given, &none) ||
        (value_is_like(&given, &value) && !is_flag))
        return NULL;
    return value_kind_words(value.kind);
}

/* Returns what a value must be to stand for the file's value; NULL: it is that. */
static const char *wanted(struct dimensions *dimensions, const struct dimension *dimension)
{
    const json_t *standard = followed(dimensions, dimension->standard), *given = dimension->given;
    json_int_t whole;
    if (json_is_boolean(standard))
        return json_is_boolean(given) || json_is_number(given) ? NULL : "true or false";
    if (json_is_integer(standard))
        return json_take_whole(given, &whole) && whole >= 0 ? NULL : "an integer of 0 or more";
    return wanted_like(dimensions, standard, dimension);
}

int dimensions_check(struct dimensions *dimensions, struct err *err)
{
    for (size_t i = 0; i < dimensions->count; i++) {
        const struct dimension *dimension = &dimensions->items[i];
        char shown[JSON_SHOWN_BYTES], name[JSON_SHOWN_BYTES];
        if (dimension->source < DIMENSION_config || !dimension->standard)
            continue;
        const char *what = wanted(dimensions, dimension);
        if (what)
            return err_set(err, ERR_INPUT, "%s %s must be %s, not %s",
                           dimension->source == DIMENSION_option ? "option '--set':" : "field",
                           json_shown_text(dimension->name, name), what,
                           json_shown(dimension->given, shown));
    }
    return 0;
}

/* --- fields and names --- */

static int evaluate(struct dimensions *dimensions, const json_t *given, struct value *value,
                    struct err *err)
{
    return json_is_string(given)
               ? expression_evaluate(json_string_value(given), &dimensions->names, value, err)
               : value_of_json(given, value, err);
}

static json_t *plain_text(struct dimensions *dimensions, const json_t *text, struct err *err)
{
    struct value value;
    if (evaluate(dimensions, text, &value, err))
        return NULL;
    switch (value.kind) {
    case VALUE_integer:
        return json_integer(value.integer);
    case VALUE_real:
        return json_real(value.real);
    case VALUE_text:
        return json_stringn(value.text, value.length);
    case VALUE_list:
        return json_incref((json_t *)(uintptr_t)value.list);
    }
    return NULL;
}

json_t *dimensions_plain(struct dimensions *dimensions, const json_t *field, struct err *err)
{
    if (json_is_string(field))
        return plain_text(dimensions, field, err);
    if (!json_is_array(field))
        return json_incref((json_t *)(uintptr_t)field);
    json_t *plain = json_array();
    for (size_t i = 0; i < json_array_size(field); i++) {
        json_t *item = json_array_get(field, i);
        item = json_is_string(item) ? plain_text(dimensions, item, err) : json_incref(item);
        if (!item || json_array_append_new(plain, item)) {
            json_decref(plain);
            return NULL;
        }
    }
    return plain;
}

int dimensions_holds(struct dimensions *dimensions, const json_t *condition, bool *holds,
                     struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    struct value value;
    struct err inner = {0};
    if (evaluate(dimensions, condition, &value, err))
        return -1;
    if (!value_truth(&value, holds, &inner))
        return 0;
    const char *text = json_string_value(condition);
    return err_set(err, ERR_INPUT, "%s%s%s", text ? json_shown_text(text, shown) : "",
                   text ? ": " : "", inner.message);
}

static int add_value(struct text *filled, const struct value *value, struct err *err)
{
    if (value->kind == VALUE_integer)
        text_addf(filled, "%" PRId64, value->integer);
    else if (value->kind == VALUE_text)
        text_add_bytes(filled, value->text, value->length);
    else {
        return err_set(err, ERR_INPUT, "a name can hold integers and texts only");
    }
    return 0;
}

/* Adds the value of one {expression}. *at points behind the opening brace, and is moved behind the
 * closing one. */
static int fill_one(struct dimensions *dimensions, const char **at, struct text *filled,
                    struct err *err)
{
    char expression[EXPRESSION_MOST_BYTES];
    const char *end = strchr(*at, '}');
    struct value value;
    if (!end || (size_t)(end - *at) >= sizeof expression)
        return err_set(err, ERR_INPUT, "'{' without '}'");
    memcpy(expression, *at, (size_t)(end - *at));
    expression[end - *at] = '\0';
    *at = end + 1;
    /* The value's text may point into `expression`, so it is added before `expression` is gone. */
    return expression_evaluate(expression, &dimensions->names, &value, err) ||
                   add_value(filled, &value, err)
               ? -1
               : 0;
}

int dimensions_fill(struct dimensions *dimensions, const char *text, char *filled, size_t bytes,
                    struct err *err)
{
    struct text out;
    text_init_in(&out, filled, bytes);
    filled[0] = '\0';
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "{");
        text_add_bytes(&out, at, plain);
        at += plain;
        if (*at == '{' && (at++, fill_one(dimensions, &at, &out, err)))
            return -1;
    }
    if (!text_failed(&out))
        return 0;
    return err_set(err, ERR_INPUT, "has more than %zu bytes", bytes - 1);
}
