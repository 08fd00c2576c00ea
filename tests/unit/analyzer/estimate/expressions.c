/* SPDX-License-Identifier: MIT */
/* Expressions of model files: their values, and the message of each refused one. */
#include <stdio.h>
#include <string.h>

#include "analyzer/estimate/model/dimensions.h"
#include "tests/unit/unit_test.h"

struct fixture {
    json_t *root;
    struct dimensions dimensions;
};

static void open_dimensions(struct fixture *fixture)
{
    struct err err = {0};
    fixture->root = json_loads(
        "{\"dimensions\": {\"hidden\": 64, \"heads\": \"hidden / 16\", \"act\": \"'silu'\","
        " \"share\": 0.25, \"list\": [3, \"x\"], \"kinds\": {\"rope\": 7, \"none\": null, \"in\": "
        "{\"a\": [8]}},"
        " \"yes\": true, \"loop\": \"pool + 1\", \"pool\": \"loop - 1\"}}",
        0, NULL);
    assert_non_null(fixture->root);
    assert_int_equal(dimensions_read(&fixture->dimensions, fixture->root, &err), 0);
}

static void assert_comes_to(const char *expression, const char *expected)
{
    char filled[128], text[1100];
    struct fixture fixture;
    struct err err = {0};
    open_dimensions(&fixture);
    snprintf(text, sizeof text, "{%s}", expression);
    if (dimensions_fill(&fixture.dimensions, text, filled, sizeof filled, &err))
        fail_msg("%s: %s", expression, err.message);
    if (strcmp(filled, expected))
        fail_msg("%s is %s, not %s", expression, filled, expected);
    json_decref(fixture.root);
}

static void assert_refused(const char *expression, const char *part)
{
    struct fixture fixture;
    struct value value;
    struct err err = {0};
    open_dimensions(&fixture);
    if (!expression_evaluate(expression, &fixture.dimensions.names, &value, &err))
        fail_msg("%s was taken", expression);
    if (!strstr(err.message, part))
        fail_msg("%s: the message '%s' lacks '%s'", expression, err.message, part);
    assert_null(strchr(err.message, '\n'));
    assert_int_equal(err.code, ERR_INPUT);
    json_decref(fixture.root);
}

TEST(operators_bind_as_in_c)
{
    assert_comes_to("2 + 3 * 4", "14");
    assert_comes_to("(2 + 3) * 4", "20");
    assert_comes_to("20 - 3 - 2", "15");
    assert_comes_to("1 + 1 == 2 && 3 < 2 + 2", "1");
    assert_comes_to("0 || 2 > 3", "0");
    assert_comes_to("!0 + 1", "2");
    assert_comes_to("-3 + 5", "2");
    assert_comes_to("1 ? 2 : 0 ? 3 : 4", "2");
    assert_comes_to("0 ? 2 : 0 ? 3 : 4", "4");
}

TEST(division_rounds_down_as_in_python)
{
    assert_comes_to("7 / 2", "3");
    assert_comes_to("-7 / 2", "-4");
    assert_comes_to("-7 % 2", "1");
    assert_comes_to("7 % -2", "-1");
    assert_comes_to("ceil(7, 2)", "4");
    assert_comes_to("ceil(8, 2)", "4");
}

TEST(names_are_dimensions_texts_lists_and_objects)
{
    assert_comes_to("heads * 16 == hidden", "1");
    assert_comes_to("act == 'silu' ? 'SiLU' : act", "SiLU");
    assert_comes_to("ends(act, 'lu') && !ends(act, 'ReLU')", "1");
    assert_comes_to("list[0] + len(list)", "5");
    assert_comes_to("list[1]", "x");
    assert_comes_to("3 in list && !(4 in list)", "1");
    assert_comes_to("'rope' in kinds ? kinds['rope'] : 0", "7");
    assert_comes_to("int(hidden * share)", "16");
    assert_comes_to("min(3, 1, 2) + max(3, 1, 2)", "4");
    assert_comes_to("yes", "1");
    assert_comes_to("int(max(-0.5, 1, 2.5) + min(3, 0.5))", "3");
    assert_comes_to("kinds['in']['a'][0]", "8");
    assert_comes_to("get(kinds, 'rope', 3) + get(kinds, 'pore', 3) + get(kinds, 'none', 3)", "13");
    assert_comes_to("3 in(list) &&\n\t3 in\tlist", "1");
}

TEST(integers_are_compared_to_the_last_bit)
{
    assert_comes_to("9007199254740993 > 9007199254740992", "1");
    assert_comes_to("max(9007199254740992, 9007199254740993)", "9007199254740993");
    assert_comes_to("1.5 > 1 && 2 >= 2.0", "1");
}

TEST(a_branch_that_is_not_taken_is_not_computed)
{
    assert_comes_to("0 && 1 / 0", "0");
    assert_comes_to("1 || nothing", "1");
    assert_comes_to("1 ? 2 : loop", "2");
    assert_comes_to("0 ? list[9] : 3", "3");
}

TEST(what_has_no_value_is_refused_in_one_line)
{
    assert_refused("1 / 0", "division by zero");
    assert_refused("1 % (1 - 1)", "division by zero");
    assert_refused("loop", "'loop' depends on itself");
    assert_refused("hiden", "did you mean 'hidden'?");
    assert_refused("4611686018427387904 + 1", "beyond 2^62");
    assert_refused("4611686018427387905", "beyond 2^62");
    assert_refused("3037000500 * 3037000500", "beyond 2^62");
    assert_refused("hidden +", "a value is missing");
    assert_refused("(hidden", "')' is missing");
    assert_refused("hidden hidden", "left over");
    assert_refused("'open", "closing quote");
    assert_refused("act + 1", "numbers");
    assert_refused("list[2]", "no such element");
    assert_refused("kinds['pore']", "no such member");
    assert_refused("sqrt(4)", "'sqrt' is not a function");
    assert_refused("int(3, 9)", "int(a) of a number");
    assert_refused("ceil(1.5, 2)", "ceil(a, b) of integers");
    assert_refused("sqrt('a')", "'sqrt' is not a function");
    assert_refused("-act", "for numbers");
    assert_refused("!act", "'silu' is neither true nor false");
    assert_refused("1 && act", "'silu' is neither true nor false");
    assert_refused("act || 1", "'silu' is neither true nor false");
    assert_refused("list ? 1 : 2", "a list is neither true nor false");
    assert_refused("get(3, 'a', 1)", "its form is get(object");
    assert_refused("1 ? 2", "':' is missing");
    assert_refused("a\nb", "'a' is not a dimension");
}

TEST(nesting_and_length_have_an_end)
{
    char nested[900], longer[EXPRESSION_MOST_BYTES + 2];
    memset(nested, '(', sizeof nested - 1);
    nested[sizeof nested - 1] = '\0';
    assert_refused(nested, "nested too deep");
    memset(nested, '!', sizeof nested - 1);
    assert_refused(nested, "nested too deep");
    memset(longer, ' ', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_refused(longer, "at most 1000 bytes");
}

UNIT_MAIN(NULL, NULL)
