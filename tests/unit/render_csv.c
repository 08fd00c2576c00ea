/* SPDX-License-Identifier: MIT */
/* CSV: which table is written, RFC 4180 quoting, and key,value without a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/rendered.h"

static void a_list_of_rows_becomes_a_table_of_its_keys(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_count(doc, "outside", "Outside", 1);
    doc_list_begin(doc, "points", "Points");
    for (uint64_t i = 1; i <= 2; i++) {
        doc_row_begin(doc);
        doc_bytes(doc, "live_bytes", "Live", i * 1024);
        doc_text(doc, NULL, "For people", "x");
        doc_text(doc, "phase", NULL, i == 1 ? "forward" : NULL);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    assert_rendered(doc, "csv", "live_bytes,phase\r\n1024,forward\r\n2048,\r\n");
}

static void separators_quotes_and_line_ends_are_quoted(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_list_begin(doc, "rows", NULL);
    doc_row_begin(doc);
    doc_text(doc, "a", "", "one, two");
    doc_text(doc, "b", "", "say \"hi\"");
    doc_text(doc, "c", "", "up\ndown");
    doc_text(doc, "d", "", "plain");
    doc_row_end(doc);
    doc_list_end(doc);
    assert_rendered(doc, "csv",
                    "a,b,c,d\r\n\"one, two\",\"say \"\"hi\"\"\",\"up\ndown\",plain\r\n");
}

static void tables_of_all_devices_are_joined_and_led_by_the_device(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_list_begin(doc, "devices", NULL);
    for (int device = 0; device < 2; device++) {
        doc_row_begin(doc);
        doc_integer(doc, "device", "Device", DOC_COUNT, device);
        doc_list_begin(doc, "sites", "Sites");
        doc_row_begin(doc);
        doc_bytes(doc, "bytes", "Bytes", 5);
        doc_list_begin(doc, "frames", NULL);
        for (int line = 1; line <= 2; line++) {
            doc_row_begin(doc);
            doc_text(doc, "function", "", "f,g");
            doc_integer(doc, "line", "", DOC_COUNT, line);
            doc_row_end(doc);
        }
        doc_list_end(doc);
        doc_row_end(doc);
        doc_list_end(doc);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    assert_rendered(doc, "csv",
                    "device,bytes,frames\r\n"
                    "0,5,\"f,g 1;f,g 2\"\r\n"
                    "1,5,\"f,g 1;f,g 2\"\r\n");
}

static void an_empty_list_is_passed_over(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_list_begin(doc, "empty", NULL);
    doc_list_end(doc);
    doc_object_begin(doc, "inside", NULL);
    doc_list_begin(doc, "rows", NULL);
    doc_row_begin(doc);
    doc_count(doc, "n", "", 1);
    doc_row_end(doc);
    doc_list_end(doc);
    doc_object_end(doc);
    assert_rendered(doc, "csv", "n\r\n1\r\n");
}

static void without_a_table_it_is_keys_and_values(void **state)
{
    (void)state;
    struct doc *doc = doc_new("x/1");
    doc_object_begin(doc, "peak", "Peak");
    doc_bytes(doc, "bytes", "Bytes", 7);
    doc_object_end(doc);
    doc_list_begin(doc, "warnings", NULL);
    doc_text(doc, "warning", "", "one");
    doc_text(doc, "warning", "", "two");
    doc_list_end(doc);
    assert_rendered(doc, "csv",
                    "key,value\r\nschema,x/1\r\npeak.bytes,7\r\nwarnings,\"one;two\"\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_rows_becomes_a_table_of_its_keys),
        cmocka_unit_test(separators_quotes_and_line_ends_are_quoted),
        cmocka_unit_test(tables_of_all_devices_are_joined_and_led_by_the_device),
        cmocka_unit_test(an_empty_list_is_passed_over),
        cmocka_unit_test(without_a_table_it_is_keys_and_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
