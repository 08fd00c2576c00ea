/* SPDX-License-Identifier: MIT */
/* Reads values of JSON with checks; see json_field.h. */
#include "json_field.h"

#include <inttypes.h>
#include <stdio.h>

const char *json_shown_text(const char *value, char text[JSON_SHOWN_BYTES])
{
    snprintf(text, JSON_SHOWN_BYTES, "'%.32s'", value);
    for (char *byte = text; *byte; byte++)
        if ((unsigned char)*byte < ' ' || *byte == 0x7f)
            *byte = '?';
    return text;
}

const char *json_shown(const json_t *value, char text[JSON_SHOWN_BYTES])
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        snprintf(text, JSON_SHOWN_BYTES, "a list of %zu", json_array_size(value));
        break;
    case JSON_STRING:
        return json_shown_text(json_string_value(value), text);
    case JSON_INTEGER:
        snprintf(text, JSON_SHOWN_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(text, JSON_SHOWN_BYTES, "%g", json_real_value(value));
        break;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    default:
        return "null";
    }
    return text;
}

bool json_take_whole(const json_t *value, json_int_t *integer)
{
    static const double exact_most = 1LL << 53;
    const double real = json_real_value(value);
    const bool is_real = json_is_real(value) && real >= -exact_most && real <= exact_most &&
                         (double)(json_int_t)real == real;
    *integer = is_real ? (json_int_t)real : json_integer_value(value);
    return is_real || json_is_integer(value);
}

int json_take_integer(const json_t *value, uint64_t least, uint64_t most, uint64_t *integer,
                      struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    json_int_t given;
    if (!json_take_whole(value, &given) || given < (json_int_t)least || given > (json_int_t)most)
        return err_set(err, ERR_INPUT, "must be an integer from %" PRIu64 " to %" PRIu64 ", not %s",
                       least, most, json_shown(value, shown));
    *integer = (uint64_t)given;
    return 0;
}

int json_take_flag(const json_t *value, bool *flag, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    if (!json_is_boolean(value))
        return err_set(err, ERR_INPUT, "must be true or false, not %s", json_shown(value, shown));
    *flag = json_is_true(value);
    return 0;
}

int json_take_share(const json_t *value, double *share, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    double given = json_number_value(value);
    if (!json_is_number(value) || !(given >= 0 && given <= 1))
        return err_set(err, ERR_INPUT, "must be a number from 0 to 1, not %s",
                       json_shown(value, shown));
    *share = given;
    return 0;
}

int json_take_text(const json_t *value, const char **text, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    if (!json_is_string(value))
        return err_set(err, ERR_INPUT, "must be a text, not %s", json_shown(value, shown));
    *text = json_string_value(value);
    return 0;
}

int json_take_integers(const json_t *value, uint64_t least, uint64_t most, uint64_t *integers,
                       unsigned room, unsigned *count, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    if (json_is_number(value)) {
        *count = 1;
        return json_take_integer(value, least, most, integers, err);
    }
    size_t size = json_array_size(value);
    if (!json_is_array(value) || size < 1 || size > room)
        return err_set(err, ERR_INPUT, "must be an integer or a list of 1 to %u integers, not %s",
                       room, json_shown(value, shown));
    for (size_t i = 0; i < size; i++)
        if (json_take_integer(json_array_get(value, i), least, most, &integers[i], err))
            return -1;
    *count = (unsigned)size;
    return 0;
}
