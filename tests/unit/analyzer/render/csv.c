/* SPDX-License-Identifier: MIT */
/* Tests the output as CSV: the choice of the table, the quoting of RFC 4180, and the lines
   "key,value" of a document that has no table. */
#include "rendered.h"
#include "tests/unit/unit_test.h"

TEST(a_list_of_rows_becomes_a_table_of_its_keys)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_count(doc, "outside", "Outside", 1);
    doc_list_begin(doc, "points", "Points");
    for (uint64_t i = 1; i <= 2; i++) {
        doc_row_begin(doc);
        doc_bytes(doc, "live_bytes", "Live", i * 1024);
        doc_text(doc_summary(doc), NULL, "For people", "x");
        doc_text(doc, "phase", "Phase", i == 1 ? "forward" : NULL);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    assert_rendered(doc, "csv", "live_bytes,phase\r\n1024,forward\r\n2048,\r\n");
}

TEST(separators_quotes_and_line_ends_are_quoted)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
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

TEST(texts_cannot_control_a_terminal_or_become_formulas)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_list_begin(doc, "rows", NULL);
    doc_row_begin(doc);
    doc_text(doc, "escape", "", "\x1b[31mred\t");
    doc_text(doc, "invalid", "",
             "a\xff"
             "b");
    doc_text(doc, "turned", "",
             "\xe2\x80\xae"
             "db.1");
    doc_text(doc, "formula", "", "=1+1");
    doc_text(doc, "quoted", "", "@SUM(A1,A2)");
    doc_text(doc, "tab", "", "\t=1");
    doc_text(doc, "minus", "", "-1");
    doc_integer(doc, "number", "", DOC_DELTA, -1);
    doc_list_begin(doc, "frames", NULL);
    for (int i = 0; i < 2; i++) {
        doc_row_begin(doc);
        doc_text(doc, "function", "", "+f");
        doc_row_end(doc);
    }
    doc_list_end(doc);
    doc_row_end(doc);
    doc_list_end(doc);
    assert_rendered(doc, "csv",
                    "escape,invalid,turned,formula,quoted,tab,minus,number,frames\r\n"
                    "?[31mred?,a\xef\xbf\xbd"
                    "b,\\u{202e}db.1,'=1+1,\"'@SUM(A1,A2)\",'?=1,'-1,-1,"
                    "\"[{\"\"function\"\": \"\"+f\"\"}, {\"\"function\"\": \"\"+f\"\"}]\"\r\n");
}

TEST(tables_of_all_devices_are_joined_and_led_by_the_device)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
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
                    "0,5,\"[{\"\"function\"\": \"\"f,g\"\", \"\"line\"\": 1}, "
                    "{\"\"function\"\": \"\"f,g\"\", \"\"line\"\": 2}]\"\r\n"
                    "1,5,\"[{\"\"function\"\": \"\"f,g\"\", \"\"line\"\": 1}, "
                    "{\"\"function\"\": \"\"f,g\"\", \"\"line\"\": 2}]\"\r\n");
}

static struct doc *two_lists(bool second_has_rows)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_list_begin(doc, "devices", NULL);
    doc_row_begin(doc);
    doc_count(doc, "device", "", 3);
    doc_list_begin(doc, "moments", "Moments");
    doc_row_begin(doc);
    doc_count(doc, "seq", "", 1);
    doc_row_end(doc);
    doc_list_end(doc);
    doc_list_begin(doc, "sites", NULL);
    for (int i = 0; i < 2 && second_has_rows; i++) {
        doc_row_begin(doc);
        doc_integer(doc, "bytes", "", DOC_BYTES, 100 + i);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    doc_row_end(doc);
    doc_list_end(doc);
    doc_set_table(doc, "sites");
    return doc;
}

TEST(the_list_that_the_document_names_is_the_table)
{
    assert_rendered(two_lists(true), "csv", "device,bytes\r\n3,100\r\n3,101\r\n");
}

TEST(a_named_list_without_rows_gives_nothing)
{
    assert_rendered(two_lists(false), "csv", "");
}

TEST(a_name_that_does_not_exist_leaves_the_first_table)
{
    struct doc *doc = two_lists(true);
    doc_set_table(doc, "nowhere");
    assert_rendered(doc, "csv", "device,seq\r\n3,1\r\n");
}

TEST(a_row_that_names_its_device_is_not_led_by_it)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_list_begin(doc, "devices", NULL);
    doc_row_begin(doc);
    doc_count(doc, "device", "", 3);
    doc_list_begin(doc, "oom", "Failures");
    doc_row_begin(doc);
    doc_count(doc, "seq", "", 9);
    doc_count(doc, "device", "", 4);
    doc_row_end(doc);
    doc_list_end(doc);
    doc_row_end(doc);
    doc_list_end(doc);
    assert_rendered(doc, "csv", "seq,device\r\n9,4\r\n");
}

TEST(an_empty_list_is_passed_over)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
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

TEST(without_a_table_it_is_keys_and_values)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_object_begin(doc, "peak", "Peak");
    doc_bytes(doc, "bytes", "Bytes", 7);
    doc_object_end(doc);
    doc_list_begin(doc, "warnings", NULL);
    doc_text(doc, "warning", "", "one");
    doc_text(doc, "warning", "", "two");
    doc_list_end(doc);
    assert_rendered(
        doc, "csv",
        "key,value\r\nschema,x/1\r\npeak.bytes,7\r\nwarnings,\"[\"\"one\"\", \"\"two\"\"]\"\r\n");
}

UNIT_MAIN(NULL, NULL)
