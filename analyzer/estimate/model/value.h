/* SPDX-License-Identifier: MIT */
/* A value of an expression: a number, a text, or a list or object of JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define VALUE_MOST (INT64_C(1) << 62) /* largest absolute value of an integer */

enum value_kind { VALUE_integer, VALUE_real, VALUE_text, VALUE_list };

/* `text` points into the expression or the JSON that it came from, which must outlive the value. */
struct value {
    enum value_kind kind;
    int64_t integer;
    double real;
    const char *text;
    size_t length;
    const json_t *list; /* or an object */
};

static inline struct value value_of_integer(int64_t integer)
{
    return (struct value){.kind = VALUE_integer, .integer = integer};
}

/* Makes a value from JSON. A text in the JSON is a plain text, not an expression. -1: null has no
 * value. */
int value_of_json(const json_t *json, struct value *value, struct err *err);
/* Sets *holds to whether the number is not zero. -1: a text or list is neither true nor false. */
int value_truth(const struct value *value, bool *holds, struct err *err);
bool value_is_number(const struct value *value);
double value_number(const struct value *value);
bool values_equal(const struct value *a, const struct value *b);
/* Compares two numbers: -1, 0 or 1. */
int value_order(const struct value *a, const struct value *b);
size_t value_length(const json_t *list);
/* Returns whether a list has the value, or an object has a member of that name. */
bool value_has(const json_t *list, const struct value *wanted);
/* Returns the member of that name; NULL: there is none. */
const json_t *value_member(const json_t *object, const struct value *name);
/* Returns what a value of the kind is, for messages: a number, a text, a list or an object. */
const char *value_kind_words(enum value_kind kind);
/* Returns whether the value can stand in place of the other: both are numbers, texts or lists. */
bool value_is_like(const struct value *value, const struct value *other);
