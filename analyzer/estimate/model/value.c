/* SPDX-License-Identifier: MIT */
/* Reads and compares values; see value.h. */
#include "value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/util/json_field.h"

size_t value_length(const json_t *list)
{
    return json_is_object(list) ? json_object_size(list) : json_array_size(list);
}

int value_truth(const struct value *value, bool *holds, struct err *err)
{
    char text[JSON_SHOWN_BYTES], shown[JSON_SHOWN_BYTES];
    *holds = value_number(value) != 0;
    if (value_is_number(value))
        return 0;
    const bool is_text = value->kind == VALUE_text;
    const int length = value->length < sizeof text ? (int)value->length : (int)sizeof text - 1;
    snprintf(text, sizeof text, "%.*s", is_text ? length : 0, value->text);
    return err_set(err, ERR_INPUT, "%s is neither true nor false",
                   is_text ? json_shown_text(text, shown) : "a list");
}

int value_of_json(const json_t *json, struct value *value, struct err *err)
{
    json_int_t whole;
    *value = value_of_integer(0);
    switch (json_typeof(json)) {
    case JSON_INTEGER:
        value->integer = json_integer_value(json);
        if (value->integer >= -VALUE_MOST && value->integer <= VALUE_MOST)
            return 0;
        return err_set(err, ERR_INPUT, "%" PRId64 " is beyond 2^62", value->integer);
    case JSON_TRUE:
        value->integer = 1;
        return 0;
    case JSON_FALSE:
        return 0;
    case JSON_REAL:
        if (json_take_whole(json, &whole))
            *value = value_of_integer(whole);
        else
            *value = (struct value){.kind = VALUE_real, .real = json_real_value(json)};
        return 0;
    case JSON_STRING:
        *value = (struct value){.kind = VALUE_text,
                                .text = json_string_value(json),
                                .length = json_string_length(json)};
        return 0;
    case JSON_ARRAY:
    case JSON_OBJECT:
        *value = (struct value){.kind = VALUE_list, .list = json};
        return 0;
    default:
        return err_set(err, ERR_INPUT,
                       "must be a number, a text, true, false, a list or an object");
    }
}

double value_number(const struct value *value)
{
    return value->kind == VALUE_real ? value->real : (double)value->integer;
}

bool value_is_number(const struct value *value)
{
    return value->kind == VALUE_integer || value->kind == VALUE_real;
}

/* Integers are compared as integers, because fractions would round integers beyond 2^53. */
int value_order(const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_integer && b->kind == VALUE_integer)
        return (a->integer > b->integer) - (a->integer < b->integer);
    return (value_number(a) > value_number(b)) - (value_number(a) < value_number(b));
}

bool values_equal(const struct value *a, const struct value *b)
{
    if (value_is_number(a) && value_is_number(b))
        return value_order(a, b) == 0;
    return a->kind == VALUE_text && b->kind == VALUE_text && a->length == b->length &&
           memcmp(a->text, b->text, a->length) == 0;
}

/* `name` is a part of an expression or of a JSON string, so it is not terminated like a C
 * string. */
const json_t *value_member(const json_t *object, const struct value *name)
{
    return json_object_getn(object, name->text, name->length);
}

bool value_has(const json_t *list, const struct value *wanted)
{
    struct err ignored = {0};
    struct value item;
    if (json_is_object(list))
        return wanted->kind == VALUE_text && value_member(list, wanted);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!value_of_json(json_array_get(list, i), &item, &ignored) && values_equal(&item, wanted))
            return true;
    return false;
}

const char *value_kind_words(enum value_kind kind)
{
    return kind == VALUE_text ? "a text" : kind == VALUE_list ? "a list or an object" : "a number";
}

bool value_is_like(const struct value *value, const struct value *other)
{
    return value->kind == other->kind || (value_is_number(value) && value_is_number(other));
}
