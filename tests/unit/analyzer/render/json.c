/* SPDX-License-Identifier: MIT */
/* Tests the output as JSON: the order of keys, exact integers, null, escapes, valid UTF-8. The
   library jansson checks that the JSON is valid. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/json.h"
#include "rendered.h"
#include "tests/unit/unit_test.h"

TEST(keys_stand_in_the_order_they_were_built)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_count(doc, "zebra", "Zebra", 1);
    doc_object_begin(doc, "middle", "Middle");
    doc_bool(doc, "yes", "Yes", true);
    doc_list_begin(doc, "no", NULL);
    doc_list_end(doc);
    doc_object_end(doc);
    doc_count(doc, "ant", "Ant", 2);
    assert_rendered(doc, "json",
                    "{\n"
                    "  \"schema\": \"x/1\", \"zebra\": 1,\n"
                    "  \"middle\": {\"yes\": true, \"no\": []},\n"
                    "  \"ant\": 2\n"
                    "}\n");
}

TEST(lists_hold_rows_and_plain_elements)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_list_begin(doc, "sites", "Sites");
    doc_row_begin(doc);
    doc_bytes(doc, "bytes", "Bytes", 7);
    doc_row_end(doc);
    doc_list_end(doc);
    doc_list_begin(doc, "warnings", NULL);
    doc_text(doc, "warning", "", "be careful");
    doc_list_end(doc);
    doc_list_begin(doc, "pools", NULL);
    doc_list_end(doc);
    assert_rendered(doc, "json",
                    "{\n"
                    "  \"schema\": \"x/1\",\n"
                    "  \"sites\": [\n"
                    "    {\"bytes\": 7}\n"
                    "  ],\n"
                    "  \"warnings\": [\n"
                    "    \"be careful\"\n"
                    "  ],\n"
                    "  \"pools\": []\n"
                    "}\n");
}

TEST(what_is_for_people_only_is_left_out)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_note(doc, "a sentence");
    doc_text(doc_summary(doc), NULL, "Label", "value");
    doc_object_begin(doc_summary(doc), NULL, "Heading");
    doc_count(doc, "inside", "Inside", 1);
    doc_object_end(doc);
    doc_list_begin(doc, "rows", NULL);
    doc_note(doc, "another");
    doc_list_end(doc);
    assert_rendered(doc, "json", "{\"schema\": \"x/1\", \"rows\": []}\n");
}

TEST(unknown_is_null)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_null(doc, "a", "A", DOC_BYTES);
    doc_text(doc, "b", "B", NULL);
    assert_rendered(doc, "json", "{\"schema\": \"x/1\", \"a\": null, \"b\": null}\n");
}

TEST(integers_are_exact_to_the_ends_of_their_range)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_bytes(doc, "most", "", UINT64_MAX);
    doc_integer(doc, "address", "", DOC_ADDRESS, (int64_t)0x8000000000000001u);
    doc_integer(doc, "least", "", DOC_DELTA, INT64_MIN);
    doc_count(doc, "odd", "", 9007199254740993u); /* 2^53 + 1, which no double can represent */
    assert_rendered(doc, "json",
                    "{\"schema\": \"x/1\", \"most\": 18446744073709551615, "
                    "\"address\": 9223372036854775809, \"least\": -9223372036854775808, "
                    "\"odd\": 9007199254740993}\n");
}

TEST(ratios_are_real_numbers_of_six_digits)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_ratio(doc, "third", "", 1.0 / 3);
    doc_ratio(doc, "tenth", "", 0.1);
    doc_ratio(doc, "zero", "", -0.0);
    doc_ratio(doc, "one", "", 1);
    assert_rendered(doc, "json",
                    "{\"schema\": \"x/1\", \"third\": 0.333333, \"tenth\": 0.1, "
                    "\"zero\": 0.0, \"one\": 1.0}\n");
}

/* Reads the JSON back with another library; the caller frees doc and result. */
static json_t *read_back(struct doc *doc)
{
    struct err err = {0};
    char *string = rendered(doc, "json", &err);
    assert_non_null(string);
    json_t *json = json_loads(string, 0, NULL);
    assert_non_null(json);
    free(string);
    return json;
}

TEST(every_control_character_survives_the_way_there_and_back)
{
    char value[40];
    size_t length = 0;
    for (char byte = 1; byte < 0x20; byte++)
        value[length++] = byte;
    snprintf(value + length, sizeof value - length, "\"\\/\x7f\xc3\xa4");
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_text(doc, "value", "", value);
    json_t *json = read_back(doc);
    assert_string_equal(json_string_value(json_object_get(json, "value")), value);
    json_decref(json);
    doc_free(doc);
}

TEST(bytes_that_are_no_utf8_become_replacement_characters)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_text(doc, "value", "",
             "a\xff"
             "b\xc3(\xed\xa0\x80\xc0\xaf\xf5");
    json_t *json = read_back(doc);
    assert_string_equal(json_string_value(json_object_get(json, "value")),
                        "a\xef\xbf\xbd"
                        "b\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    json_decref(json);
    doc_free(doc);
}

TEST(a_broken_document_is_not_rendered)
{
    struct err err = {0};
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_object_begin(doc, "open", NULL);
    assert_null(rendered(doc, "json", &err));
    assert_int_equal(err.code, ERR_INTERNAL);
    doc_free(doc);
}

TEST(an_unknown_format_names_those_there_are)
{
    struct err err = {0};
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    assert_null(rendered(doc, "xml", &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.message, "unknown format 'xml'; there are text, json, html and csv");
    doc_free(doc);
}

TEST(a_column_is_an_array_on_one_line)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL | DOC_SERIES);
    doc_object_begin(doc_series(doc), "points", NULL);
    int64_t *values = doc_column(doc, "live_bytes", DOC_BYTES, 3);
    values[0] = 5;
    values[1] = DOC_COLUMN_NULL;
    values[2] = -7;
    assert_non_null(doc_column(doc, "step", DOC_COUNT, 0));
    doc_object_end(doc);
    assert_rendered(doc, "json",
                    "{\n"
                    "  \"schema\": \"x/1\",\n"
                    "  \"points\": {\n"
                    "    \"live_bytes\": [5,null,-7],\n"
                    "    \"step\": []\n"
                    "  }\n"
                    "}\n");
}

TEST(a_column_is_left_out_for_who_reads_no_series)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    assert_null(doc_column(doc_series(doc), "live_bytes", DOC_BYTES, 3));
    assert_rendered(doc, "json", "{\"schema\": \"x/1\"}\n");
}

#define EXACT (INT64_C(1) << 52)

/* A packed column is written as the differences of neighbouring values if the differences have
   fewer digits than the values. A column with an unknown value, or with one beyond 2^52, is written
   as it is. */
TEST(a_packed_column_has_what_takes_fewer_digits)
{
    const struct {
        int64_t values[6];
        const char *expected;
    } cases[] = {
        {{1000, 1005, 1005, 1003, 1003, 1003}, "{\"\":[1000,5,0,-2,0,0]}"},
        {{7, 8, 9, 8, 7, 6}, "[7,8,9,8,7,6]"},
        {{1000, 1000, DOC_COLUMN_NULL, 1000, 1000, 1000}, "[1000,1000,null,1000,1000,1000]"},
        {{-2000, -2000, -2000, -2000, -2000, -2000}, "{\"\":[-2000,0,0,0,0,0]}"},
        {{INT64_MAX, INT64_MAX, 0, 0, 0, 0}, "[9223372036854775807,9223372036854775807,0,0,0,0]"},
        {{EXACT, EXACT, EXACT}, "{\"\":[4503599627370496,0,0,-4503599627370496,0,0]}"},
        {{EXACT + 1, EXACT + 1, EXACT + 1},
         "[4503599627370497,4503599627370497,4503599627370497,0,0,0]"},
        {{0}, "[0,0,0,0,0,0]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[256], *text = NULL;
        size_t length;
        struct doc *doc = doc_new("x/1", DOC_DETAIL | DOC_SERIES);
        memcpy(doc_column(doc, "a", DOC_BYTES, 6), cases[i].values, sizeof cases[i].values);
        FILE *out = open_memstream(&text, &length);
        json_packed(doc, out);
        fclose(out);
        snprintf(expected, sizeof expected, "{\"schema\":\"x/1\",\"a\":%s}", cases[i].expected);
        assert_string_equal(text, expected);
        free(text);
        doc_free(doc);
    }
}

UNIT_MAIN(NULL, NULL)
