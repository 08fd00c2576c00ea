/* SPDX-License-Identifier: MIT */
/*
 * A value of an expression: a number, a text, or a list or object of JSON. It must not know expressions.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_VALUE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define VALUE_MOST (INT64_C(1) << 62) /* of an integer, and below zero */

enum value_kind { VALUE_integer, VALUE_real, VALUE_text, VALUE_list };

/* A text lies in the expression or in the JSON that it came from, which outlive it. */
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

/* A value of JSON, whose texts are texts and not expressions. null has none. */
int value_of_json(const json_t *json, struct value *value, struct err *err);
/* Whether a number is other than zero; of a text or list, which are neither true nor false, *err says so. */
int value_truth(const struct value *value, bool *holds, struct err *err);
bool value_is_number(const struct value *value);
double value_number(const struct value *value);
bool values_equal(const struct value *a, const struct value *b);
/* -1, 0 or 1, of numbers. */
int value_order(const struct value *a, const struct value *b);
size_t value_length(const json_t *list);
/* Whether a list has the value, or an object a member of that name. */
bool value_has(const json_t *list, const struct value *wanted);
/* NULL: none of that name. */
const json_t *value_member(const json_t *object, const struct value *name);

#endif
