/* SPDX-License-Identifier: MIT */
/* The document: structure as built, errors remembered and told once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyzer/render/doc.h"

static void the_schema_is_the_first_key(void **state)
{
    (void)state;
    struct doc *doc = doc_new("gpumemtrace.peak/1");
    doc_count(doc, "events", "Events", 3);
    const struct doc_node *first = doc_root(doc)->first_child;
    assert_string_equal(first->key, "schema");
    assert_string_equal(first->text, "gpumemtrace.peak/1");
    assert_null(first->label);
    assert_string_equal(first->next->key, "events");
    assert_int_equal(first->next->integer, 3);
    assert_int_equal(doc_check(doc, NULL), 0);
    doc_free(doc);
}

static void a_text_is_copied(void **state)
{
    (void)state;
    char value[] = "before";
    struct doc *doc = doc_new("x/1");
    doc_text(doc, "name", "Name", value);
    memcpy(value, "after", sizeof "after");
    assert_string_equal(doc_root(doc)->last_child->text, "before");
    doc_free(doc);
}

static void a_missing_text_is_unknown(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_text(doc, "name", "Name", NULL);
    assert_true(doc_root(doc)->last_child->is_null);
    assert_int_equal(doc_check(doc, NULL), 0);
    doc_free(doc);
}

static void a_ratio_that_is_no_number_is_unknown(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_ratio(doc, "a", "A", NAN);
    assert_true(doc_root(doc)->last_child->is_null);
    doc_ratio(doc, "b", "B", INFINITY);
    assert_true(doc_root(doc)->last_child->is_null);
    doc_ratio(doc, "c", "C", 0.5);
    assert_false(doc_root(doc)->last_child->is_null);
    doc_free(doc);
}

static void assert_broken(struct doc *doc, const char *part_of_message)
{
    struct err err = {0};
    assert_int_equal(doc_check(doc, &err), -1);
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_non_null(strstr(err.message, part_of_message));
    doc_free(doc);
}

static void an_object_left_open_is_told(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_object_begin(doc, "device", NULL);
    assert_broken(doc, "not ended");
}

static void an_end_without_begin_is_told(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_object_end(doc);
    assert_broken(doc, "does not match");
}

static void a_list_ended_as_object_is_told(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_list_begin(doc, "rows", NULL);
    doc_object_end(doc);
    assert_broken(doc, "does not match");
}

static void a_row_ended_as_object_is_told(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_list_begin(doc, "rows", NULL);
    doc_row_begin(doc);
    doc_object_end(doc);
    assert_broken(doc, "does not match");
}

static void a_row_outside_a_list_is_told(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_row_begin(doc);
    assert_broken(doc, "row outside");
}

static void the_first_error_is_the_one_told(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_row_begin(doc);
    doc_object_end(doc);
    doc_count(doc, "a", "A", UINT64_MAX);
    assert_broken(doc, "row outside");
}

static void a_deep_document_is_freed(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    for (int i = 0; i < 100000; i++)
        doc_object_begin(doc, "inner", NULL);
    for (int i = 0; i < 100000; i++)
        doc_object_end(doc);
    assert_int_equal(doc_check(doc, NULL), 0);
    doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_is_the_first_key),
        cmocka_unit_test(a_text_is_copied),
        cmocka_unit_test(a_missing_text_is_unknown),
        cmocka_unit_test(a_ratio_that_is_no_number_is_unknown),
        cmocka_unit_test(an_object_left_open_is_told),
        cmocka_unit_test(an_end_without_begin_is_told),
        cmocka_unit_test(a_list_ended_as_object_is_told),
        cmocka_unit_test(a_row_ended_as_object_is_told),
        cmocka_unit_test(a_row_outside_a_list_is_told),
        cmocka_unit_test(the_first_error_is_the_one_told),
        cmocka_unit_test(a_deep_document_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
