/* SPDX-License-Identifier: MIT */
/* Tests the output as text for people: its layout, and that no string in a trace can control the
   terminal. */
#include "rendered.h"
#include "tests/unit/unit_test.h"

TEST(labels_are_padded_to_the_longest_and_machine_fields_left_out)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_bytes(doc, "peak_bytes", "Peak", 1610612736);
    doc_count(doc_detail(doc), "seq", "Event", 99999);
    doc_integer(doc, "time", "Reached after", DOC_NS, 12300000);
    doc_null(doc, "uuid", "UUID", DOC_TEXT);
    assert_rendered(doc, "text",
                    "Peak           1.50 GiB\n"
                    "Reached after  12.3 ms\n"
                    "UUID           -\n");
}

TEST(words_stand_in_the_place_of_the_value)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_count(doc, "events", "Events", 3);
    doc_words(doc, "3, complete");
    doc_text(doc, "phase", "Phase", NULL);
    doc_words(doc, "(outside any)");
    assert_rendered(doc, "text",
                    "Events  3, complete\n"
                    "Phase   (outside any)\n");
}

TEST(sections_have_a_heading_and_an_empty_line_between_them)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_note(doc, "One sentence.");
    doc_object_begin(doc, "a", "First");
    doc_count(doc, "n", "N", 1);
    doc_object_begin(doc, "inner", "Inside");
    doc_count(doc, "m", "M", 2);
    doc_object_end(doc);
    doc_object_end(doc);
    doc_object_begin(doc, "b", "Second");
    doc_count(doc, "n", "N", 3);
    doc_object_end(doc);
    assert_rendered(doc, "text",
                    "One sentence.\n"
                    "\n"
                    "First\n"
                    "  N  1\n"
                    "\n"
                    "  Inside\n"
                    "    M  2\n"
                    "\n"
                    "Second\n"
                    "  N  3\n");
}

static void add_site(struct doc *doc, uint64_t bytes, uint64_t count, const char *phase,
                     const char *frame)
{
    doc_row_begin(doc);
    doc_bytes(doc, "bytes", "Bytes", bytes);
    doc_count(doc, "count", "Count", count);
    doc_text(doc, "phase", "Phase", phase);
    doc_list_begin(doc, "frames", NULL);
    doc_row_begin(doc);
    doc_text(doc_detail(doc), "kind", "Kind", "native");
    doc_text(doc, NULL, "", frame);
    doc_row_end(doc);
    doc_list_end(doc);
    doc_row_end(doc);
}

TEST(a_table_aligns_numbers_right_and_indents_inner_lists)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_list_begin(doc, "sites", "Sites at the peak");
    add_site(doc, 1073741824, 2, "forward", "main (train.c:12)");
    add_site(doc, 512, 10, NULL, "step (train.c:40)");
    doc_list_end(doc);
    assert_rendered(doc, "text",
                    "Sites at the peak\n"
                    "     Bytes  Count  Phase\n"
                    "  1.00 GiB      2  forward\n"
                    "      main (train.c:12)\n"
                    "     512 B     10  -\n"
                    "      step (train.c:40)\n");
}

TEST(no_line_of_a_table_ends_in_spaces)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    const char *bars[] = {"", "##"};
    doc_list_begin(doc, "rows", NULL);
    for (int i = 0; i < 2; i++) {
        doc_row_begin(doc);
        doc_text(doc, "name", "Name", i ? "" : "a");
        doc_count(doc, "n", "N", 1);
        doc_text(doc, NULL, "", bars[i]);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    assert_rendered(doc, "text",
                    "Name  N\n"
                    "a     1\n"
                    "      1  ##\n");
}

TEST(columns_are_counted_in_characters_not_bytes)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_list_begin(doc, "rows", NULL);
    const char *names[] = {"\xc3\xa9t\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac", "plain"};
    for (int i = 0; i < 3; i++) {
        doc_row_begin(doc);
        doc_text(doc, "name", "Name", names[i]);
        doc_count(doc, "n", "N", 1);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    assert_rendered(doc, "text",
                    "Name   N\n"
                    "\xc3\xa9t\xc3\xa9    1\n"
                    "\xe6\x97\xa5\xe6\x9c\xac   1\n"
                    "plain  1\n");
}

TEST(rows_with_headed_lists_are_sections)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_list_begin(doc, "devices", NULL);
    for (int device = 0; device < 2; device++) {
        doc_row_begin(doc);
        doc_integer(doc, "device", "Device", DOC_COUNT, device);
        doc_list_begin(doc, "phases", "Phases");
        doc_row_begin(doc);
        doc_text(doc, "name", "Name", "forward");
        doc_row_end(doc);
        doc_list_end(doc);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    assert_rendered(doc, "text",
                    "Device  0\n"
                    "\n"
                    "Phases\n"
                    "  Name\n"
                    "  forward\n"
                    "\n"
                    "Device  1\n"
                    "\n"
                    "Phases\n"
                    "  Name\n"
                    "  forward\n");
}

TEST(a_heading_without_content_is_not_shown)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_list_begin(doc, "pools", "Pools");
    doc_list_end(doc);
    doc_object_begin(doc, "trace", "Trace");
    doc_text(doc_detail(doc), "path", "Path", "/tmp/x.db");
    doc_object_end(doc);
    doc_count(doc, "n", "N", 1);
    assert_rendered(doc, "text", "N  1\n");
}

TEST(notes_are_wrapped_between_words)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_object_begin(doc, "a", "A");
    doc_note(doc, "%s",
             "123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 "
             "123456789 12345678 x");
    doc_object_end(doc);
    assert_rendered(doc, "text",
                    "A\n"
                    "  123456789 123456789 123456789 123456789 123456789 123456789 123456789 "
                    "123456789 123456789 12345678\n"
                    "  x\n");
}

TEST(control_characters_do_not_reach_the_terminal)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_text(doc, "name", "Name",
             "a\x1b[31mred\nnext\x7f\xc2\x9b"
             "31m\xff");
    assert_rendered(doc, "text", "Name  a?[31mred?next??31m\xef\xbf\xbd\n");
}

TEST(invisible_characters_are_shown_by_their_numbers_and_counted_so)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    const char *names[] = {"a\xe2\x80\xae"
                           "b",
                           "\xef\xbb\xbf"
                           "c",
                           "\xf3\xa0\x81\x81", "d\xe2\x80\x8d"};
    doc_list_begin(doc, "rows", NULL);
    for (int i = 0; i < 4; i++) {
        doc_row_begin(doc);
        doc_text(doc, "name", "Name", names[i]);
        doc_count(doc, "n", "N", 1);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    assert_rendered(doc, "text",
                    "Name        N\n"
                    "a\\u{202e}b  1\n"
                    "\\u{feff}c   1\n"
                    "\\u{e0041}   1\n"
                    "d\xe2\x80\x8d           1\n");
}

UNIT_MAIN(NULL, NULL)
