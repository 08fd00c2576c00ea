/* SPDX-License-Identifier: MIT */
/* A recursive descent parser that computes while it reads; see expression.h. */
#include "expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "gpumemtrace/compiler.h"

struct parser {
    const char *text, *at;
    struct names *names;
    unsigned depth;
    unsigned skipped; /* above 0: inside a branch that is not taken, where nothing is computed */
    struct err *err;
};

static int parse_choice(struct parser *parser, struct value *value);

static int fail(const struct parser *parser, const char *what)
{
    char shown[JSON_SHOWN_BYTES], rest[JSON_SHOWN_BYTES];
    const bool at_end = *parser->at == '\0';
    return err_set(
        parser->err, ERR_INPUT, "expression %s: %s%s%s", json_shown_text(parser->text, shown), what,
        at_end ? ", at its end" : ", before ", at_end ? "" : json_shown_text(parser->at, rest));
}

/* Fails because of a value, not because of the expression's syntax. */
static int fail_value(const struct parser *parser, const char *what)
{
    char shown[JSON_SHOWN_BYTES];
    return err_set(parser->err, ERR_INPUT, "expression %s: %s",
                   json_shown_text(parser->text, shown), what);
}

/* --- operators --- */

enum operation {
    OPERATION_or,
    OPERATION_and,
    OPERATION_equal,
    OPERATION_unequal,
    OPERATION_at_most,
    OPERATION_at_least,
    OPERATION_less,
    OPERATION_more,
    OPERATION_in,
    OPERATION_add,
    OPERATION_subtract,
    OPERATION_multiply,
    OPERATION_divide,
    OPERATION_rest
};

/* Longer signs come before their beginnings, as "<=" before "<". */
static const struct sign {
    const char *text;
    int level;
    enum operation operation;
} signs[] = {
    {"||", 1, OPERATION_or},      {"&&", 2, OPERATION_and},     {"==", 3, OPERATION_equal},
    {"!=", 3, OPERATION_unequal}, {"<=", 4, OPERATION_at_most}, {">=", 4, OPERATION_at_least},
    {"<", 4, OPERATION_less},     {">", 4, OPERATION_more},     {"in", 4, OPERATION_in},
    {"+", 5, OPERATION_add},      {"-", 5, OPERATION_subtract}, {"*", 6, OPERATION_multiply},
    {"/", 6, OPERATION_divide},   {"%", 6, OPERATION_rest},
};

static void skip_spaces(struct parser *parser)
{
    parser->at += strspn(parser->at, " \t\n\r");
}

static bool in_name(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

/* Skips the text if it comes next. A word is skipped only if it ends there. */
static bool take(struct parser *parser, const char *text)
{
    skip_spaces(parser);
    const size_t length = strlen(text);
    const bool is_word = isalpha((unsigned char)*text);
    if (strncmp(parser->at, text, length) != 0 || (is_word && in_name(parser->at[length])))
        return false;
    parser->at += length;
    return true;
}

static const struct sign *take_sign(struct parser *parser, int level)
{
    skip_spaces(parser);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].level >= level && take(parser, signs[i].text))
            return &signs[i];
    return NULL;
}

static int set_integer(const struct parser *parser, struct value *value, int64_t result,
                       bool overflows)
{
    if (overflows || result > VALUE_MOST || result < -VALUE_MOST)
        return fail_value(parser, "the result is beyond 2^62");
    *value = value_of_integer(result);
    return 0;
}

/* Division and remainder round down, as in Python. */
static int divide(const struct parser *parser, struct value *value, enum operation operation,
                  int64_t a, int64_t b)
{
    if (b == 0)
        return fail_value(parser, "division by zero");
    int64_t rest = a % b, quotient = a / b;
    const bool is_between = rest != 0 && (rest < 0) != (b < 0);
    *value = value_of_integer(operation == OPERATION_divide ? quotient - is_between
                                                            : rest + (is_between ? b : 0));
    return 0;
}

/* Computes with fractions, which configs use for shares. */
static int compute_real(const struct parser *parser, struct value *value, enum operation operation,
                        double a, double b)
{
    double result = a + b;
    if (operation == OPERATION_subtract)
        result = a - b;
    else if (operation == OPERATION_multiply)
        result = a * b;
    else if (operation != OPERATION_add)
        return fail_value(parser, "only integers are divided");
    if (!isfinite(result))
        return fail_value(parser, "the result is beyond all numbers");
    *value = (struct value){.kind = VALUE_real, .real = result};
    return 0;
}

static int compute(const struct parser *parser, struct value *value, enum operation operation,
                   const struct value *right)
{
    const int64_t a = value->integer, b = right->integer;
    int64_t result = 0;
    bool overflows;
    if (!value_is_number(value) || !value_is_number(right))
        return fail_value(parser, "arithmetic is for numbers");
    if (value->kind == VALUE_real || right->kind == VALUE_real)
        return compute_real(parser, value, operation, value_number(value), value_number(right));
    switch (operation) {
    case OPERATION_add:
        overflows = GMT_ADD_OVERFLOWS(a, b, &result);
        break;
    case OPERATION_subtract:
        overflows = GMT_ADD_OVERFLOWS(a, -b, &result);
        break;
    case OPERATION_multiply:
        overflows = GMT_MUL_OVERFLOWS(a, b, &result);
        break;
    default:
        return divide(parser, value, operation, a, b);
    }
    return set_integer(parser, value, result, overflows);
}

static bool compares(enum operation operation, int order)
{
    switch (operation) {
    case OPERATION_at_most:
        return order <= 0;
    case OPERATION_at_least:
        return order >= 0;
    case OPERATION_less:
        return order < 0;
    default:
        return order > 0;
    }
}

static int truth(const struct parser *parser, const struct value *value, bool *holds)
{
    struct err inner = {0};
    *holds = false;
    if (parser->skipped || !value_truth(value, holds, &inner))
        return 0;
    return fail_value(parser, inner.message);
}

static int apply(const struct parser *parser, struct value *value, enum operation operation,
                 const struct value *right)
{
    bool holds;
    if (operation == OPERATION_and ||
        operation == OPERATION_or) { /* the left side has not decided */
        if (truth(parser, right, &holds))
            return -1;
        *value = value_of_integer(holds);
    } else if (operation == OPERATION_equal || operation == OPERATION_unequal) {
        *value = value_of_integer(values_equal(value, right) == (operation == OPERATION_equal));
    } else if (operation == OPERATION_in) {
        if (right->kind != VALUE_list)
            return fail_value(parser, "'in' needs a list");
        *value = value_of_integer(value_has(right->list, value));
    } else if (operation < OPERATION_in) {
        if (!value_is_number(value) || !value_is_number(right))
            return fail_value(parser, "only numbers are larger or smaller");
        *value = value_of_integer(compares(operation, value_order(value, right)));
    } else {
        return compute(parser, value, operation, right);
    }
    return 0;
}

/* --- primaries --- */

static int parse_number(struct parser *parser, struct value *value)
{
    const size_t digits = strspn(parser->at, "0123456789");
    int64_t integer = 0;
    if (parser->at[digits] == '.') {
        char *end;
        *value = (struct value){.kind = VALUE_real, .real = strtod(parser->at, &end)};
        parser->at = end;
        return isfinite(value->real) ? 0 : fail(parser, "the number is too large");
    }
    for (; isdigit((unsigned char)*parser->at); parser->at++) {
        const int digit = *parser->at - '0';
        if (integer > (VALUE_MOST - digit) / 10)
            return fail(parser, "the number is beyond 2^62");
        integer = integer * 10 + digit;
    }
    *value = value_of_integer(integer);
    return 0;
}

static int parse_text(struct parser *parser, struct value *value)
{
    const char *begin = ++parser->at;
    const char *end = strchr(begin, '\'');
    if (!end)
        return fail(parser, "the text lacks its closing quote");
    *value = (struct value){.kind = VALUE_text, .text = begin, .length = (size_t)(end - begin)};
    parser->at = end + 1;
    return 0;
}

#define ARGUMENTS_MOST 8

static bool text_ends(const struct value *text, const struct value *end)
{
    return text->length >= end->length &&
           memcmp(text->text + text->length - end->length, end->text, end->length) == 0;
}

static int truncate_real(const struct parser *parser, struct value *value, double real)
{
    if (!(real < (double)VALUE_MOST && real > -(double)VALUE_MOST))
        return fail_value(parser, "the result is beyond 2^62");
    *value = value_of_integer((int64_t)real);
    return 0;
}

enum function {
    FUNCTION_min,
    FUNCTION_max,
    FUNCTION_ceil,
    FUNCTION_int,
    FUNCTION_len,
    FUNCTION_ends,
    FUNCTION_get
};

static const struct function_rule {
    const char *name, *shown; /* `shown`: as a message shows the function */
    unsigned least, most;     /* number of arguments */
} functions[] = {
    [FUNCTION_min] = {"min", "min(a, …) of numbers", 1, ARGUMENTS_MOST},
    [FUNCTION_max] = {"max", "max(a, …) of numbers", 1, ARGUMENTS_MOST},
    [FUNCTION_ceil] = {"ceil", "ceil(a, b) of integers", 2, 2},
    [FUNCTION_int] = {"int", "int(a) of a number", 1, 1},
    [FUNCTION_len] = {"len", "len(list)", 1, 1},
    [FUNCTION_ends] = {"ends", "ends(text, end)", 2, 2},
    [FUNCTION_get] = {"get", "get(object, 'name', a value where it lacks that)", 3, 3},
};

#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

static bool takes(enum function function, const struct value *value)
{
    switch (function) {
    case FUNCTION_ceil:
        return value->kind == VALUE_integer;
    case FUNCTION_len:
        return value->kind == VALUE_list;
    case FUNCTION_ends:
        return value->kind == VALUE_text;
    default:
        return value_is_number(value);
    }
}

static int fail_function(const struct parser *parser, const char *name)
{
    char shown[JSON_SHOWN_BYTES], message[160];
    snprintf(message, sizeof message,
             "%s is not a function; known are min, max, ceil, int, len, ends and get",
             json_shown_text(name, shown));
    return fail(parser, message);
}

static int check_arguments(const struct parser *parser, enum function function,
                           const struct value *arguments, unsigned count)
{
    const struct function_rule *rule = &functions[function];
    char message[80];
    bool fits = count >= rule->least && count <= rule->most;
    if (function == FUNCTION_get)
        fits = fits && arguments[0].kind == VALUE_list && arguments[1].kind == VALUE_text;
    for (unsigned i = 0; i < count && function != FUNCTION_get; i++)
        fits = fits && takes(function, &arguments[i]);
    if (fits)
        return 0;
    snprintf(message, sizeof message, "its form is %s", rule->shown);
    return fail_value(parser, message);
}

static void extreme_of(const struct value *arguments, unsigned count, int sign, struct value *value)
{
    *value = arguments[0];
    for (unsigned i = 1; i < count; i++)
        if (value_order(&arguments[i], value) == sign)
            *value = arguments[i];
}

/* Finds the member of an object, which must be of the same kind as the value that stands for a
 * missing one. A null member counts as missing. */
static int member_or(const struct parser *parser, const struct value *arguments,
                     struct value *value)
{
    const json_t *member = value_member(arguments[0].list, &arguments[1]);
    char shown[JSON_SHOWN_BYTES];
    *value = arguments[2];
    if (!member || json_is_null(member))
        return 0;
    if (value_of_json(member, value, parser->err))
        return -1;
    if (value_is_like(value, &arguments[2]))
        return 0;
    return err_set(parser->err, ERR_INPUT, "field '%.*s' must be %s, not %s",
                   (int)arguments[1].length, arguments[1].text, value_kind_words(arguments[2].kind),
                   json_shown(member, shown));
}

static int compute_function(const struct parser *parser, enum function function,
                            const struct value *arguments, unsigned count, struct value *value)
{
    switch (function) {
    case FUNCTION_min:
    case FUNCTION_max:
        extreme_of(arguments, count, function == FUNCTION_max ? 1 : -1, value);
        return 0;
    case FUNCTION_ceil:
        if (divide(parser, value, OPERATION_divide, -arguments[0].integer, arguments[1].integer))
            return -1;
        value->integer = -value->integer;
        return 0;
    case FUNCTION_int:
        *value = arguments[0];
        return value->kind == VALUE_real ? truncate_real(parser, value, value->real) : 0;
    case FUNCTION_len:
        *value = value_of_integer((int64_t)value_length(arguments[0].list));
        return 0;
    case FUNCTION_ends:
        *value = value_of_integer(text_ends(&arguments[0], &arguments[1]));
        return 0;
    case FUNCTION_get:
        return member_or(parser, arguments, value);
    }
    return -1;
}

static int call(const struct parser *parser, const char *name, const struct value *arguments,
                unsigned count, struct value *value)
{
    *value = value_of_integer(0);
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        const enum function function = (enum function)i;
        if (strcmp(functions[i].name, name) != 0)
            continue;
        if (parser->skipped)
            return 0;
        return check_arguments(parser, function, arguments, count)
                   ? -1
                   : compute_function(parser, function, arguments, count, value);
    }
    return fail_function(parser, name);
}

static int parse_call(struct parser *parser, const char *name, struct value *value)
{
    struct value arguments[ARGUMENTS_MOST];
    unsigned count = 0;
    do {
        if (count == ARGUMENTS_MOST)
            return fail(parser, "a function takes at most 8 values");
        if (parse_choice(parser, &arguments[count++]))
            return -1;
    } while (take(parser, ","));
    if (!take(parser, ")"))
        return fail(parser, "')' is missing");
    return call(parser, name, arguments, count, value);
}

static int parse_element(struct parser *parser, struct value *value)
{
    const struct value list = *value;
    struct value place;
    if (parse_choice(parser, &place))
        return -1;
    if (!take(parser, "]"))
        return fail(parser, "']' is missing");
    *value = value_of_integer(0);
    if (parser->skipped)
        return 0;
    if (list.kind == VALUE_list && json_is_object(list.list) && place.kind == VALUE_text) {
        const json_t *member = value_member(list.list, &place);
        return member ? value_of_json(member, value, parser->err)
                      : fail_value(parser, "the object has no such member");
    }
    if (list.kind != VALUE_list || place.kind != VALUE_integer)
        return fail_value(parser, "only a list has elements, at integers from 0");
    if (place.integer < 0 || (uint64_t)place.integer >= json_array_size(list.list))
        return fail_value(parser, "the list has no such element");
    return value_of_json(json_array_get(list.list, (size_t)place.integer), value, parser->err);
}

static int find_name(struct parser *parser, const char *name, struct value *value)
{
    char shown[JSON_SHOWN_BYTES];
    struct err inner = {0};
    *value = value_of_integer(0);
    if (parser->skipped || !parser->names->find(parser->names, name, value, &inner))
        return 0;
    return err_set(parser->err, inner.code, "expression %s: %s",
                   json_shown_text(parser->text, shown), inner.message);
}

static int parse_name(struct parser *parser, struct value *value)
{
    char name[NAME_MOST_BYTES];
    size_t length = 0;
    while (in_name(parser->at[length]))
        length++;
    if (length == 0)
        return fail(parser, "a value is missing");
    if (length >= sizeof name)
        return fail(parser, "the name is too long");
    memcpy(name, parser->at, length);
    name[length] = '\0';
    parser->at += length;
    if (take(parser, "("))
        return parse_call(parser, name, value);
    if (find_name(parser, name, value))
        return -1;
    while (take(parser, "["))
        if (parse_element(parser, value))
            return -1;
    return 0;
}

static int parse_primary(struct parser *parser, struct value *value)
{
    skip_spaces(parser);
    if (isdigit((unsigned char)*parser->at))
        return parse_number(parser, value);
    if (*parser->at == '\'')
        return parse_text(parser, value);
    if (!take(parser, "("))
        return parse_name(parser, value);
    if (parse_choice(parser, value))
        return -1;
    return take(parser, ")") ? 0 : fail(parser, "')' is missing");
}

static int descend(struct parser *parser)
{
    if (parser->depth++ < EXPRESSION_DEPTH_MOST)
        return 0;
    return fail(parser, "it is nested too deep");
}

static int parse_unary(struct parser *parser, struct value *value)
{
    const bool is_not = take(parser, "!"), is_minus = !is_not && take(parser, "-");
    if (!is_not && !is_minus)
        return parse_primary(parser, value);
    if (descend(parser) || parse_unary(parser, value))
        return -1;
    parser->depth--;
    if (is_not) {
        bool holds;
        if (truth(parser, value, &holds))
            return -1;
        *value = value_of_integer(!holds);
        return 0;
    }
    if (!value_is_number(value))
        return fail_value(parser, "arithmetic is for numbers");
    value->integer = -value->integer;
    value->real = -value->real;
    return 0;
}

/* Finds whether the left side of && or || decides the result. */
static int decides(const struct parser *parser, const struct value *left, enum operation operation,
                   bool *decided)
{
    bool holds;
    *decided = false;
    if (parser->skipped || (operation != OPERATION_and && operation != OPERATION_or))
        return 0;
    if (truth(parser, left, &holds))
        return -1;
    *decided = holds == (operation == OPERATION_or);
    return 0;
}

static int parse_binary(struct parser *parser, int level, struct value *value)
{
    const struct sign *found;
    if (parse_unary(parser, value))
        return -1;
    while ((found = take_sign(parser, level))) {
        struct value right;
        bool decided;
        if (decides(parser, value, found->operation, &decided))
            return -1;
        parser->skipped += decided;
        int result = parse_binary(parser, found->level + 1, &right);
        parser->skipped -= decided;
        if (result)
            return -1;
        if (!parser->skipped && !decided && apply(parser, value, found->operation, &right))
            return -1;
        if (decided)
            *value = value_of_integer(found->operation == OPERATION_or);
    }
    return 0;
}

/* --- the whole --- */

static int parse_branches(struct parser *parser, struct value *value)
{
    const bool already = parser->skipped > 0;
    struct value other;
    bool first;
    if (truth(parser, value, &first))
        return -1;
    parser->skipped += !already && !first;
    int result = parse_choice(parser, value);
    parser->skipped -= !already && !first;
    if (result)
        return -1;
    if (!take(parser, ":"))
        return fail(parser, "':' is missing");
    parser->skipped += !already && first;
    result = parse_choice(parser, &other);
    parser->skipped -= !already && first;
    if (!first)
        *value = other;
    return result;
}

static int parse_choice(struct parser *parser, struct value *value)
{
    if (descend(parser) || parse_binary(parser, 1, value))
        return -1;
    if (take(parser, "?") && parse_branches(parser, value))
        return -1;
    parser->depth--;
    return 0;
}

int expression_evaluate(const char *text, struct names *names, struct value *value, struct err *err)
{
    struct parser parser = {.text = text, .at = text, .names = names, .err = err};
    if (strnlen(text, EXPRESSION_MOST_BYTES + 1) > EXPRESSION_MOST_BYTES)
        return err_set(err, ERR_INPUT, "an expression has at most %d bytes", EXPRESSION_MOST_BYTES);
    if (parse_choice(&parser, value))
        return -1;
    skip_spaces(&parser);
    return *parser.at ? fail(&parser, "something is left over") : 0;
}
