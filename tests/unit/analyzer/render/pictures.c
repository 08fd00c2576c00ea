/* SPDX-License-Identifier: MIT */
/* Bars and curves, character by character. */
#include <stdlib.h>

#include "analyzer/render/pictures.h"
#include "rendered.h"
#include "tests/unit/unit_test.h"

enum { ROOM = 64 };

TEST(a_bar_is_as_wide_as_its_share_to_an_eighth)
{
    char out[ROOM];
    picture_bar(out, 0.5, 4, true);
    assert_string_equal(out, "██");
    picture_bar(out, 0.28125, 4, true); /* nine eighths of the width of a character */
    assert_string_equal(out, "█▏");
    picture_bar(out, 0.46875, 4, true);
    assert_string_equal(out, "█▉");
}

TEST(a_bar_in_ascii_has_whole_columns)
{
    char out[ROOM];
    picture_bar(out, 0.5, 5, false);
    assert_string_equal(out, "###");
    picture_bar(out, 0.49, 5, false);
    assert_string_equal(out, "##");
}

TEST(a_bar_stays_between_nothing_and_its_columns)
{
    char out[ROOM];
    for (int has_blocks = 0; has_blocks < 2; has_blocks++) {
        picture_bar(out, -1, 3, has_blocks);
        assert_string_equal(out, "");
        picture_bar(out, 0, 3, has_blocks);
        assert_string_equal(out, "");
        picture_bar(out, 7, 3, has_blocks);
        assert_string_equal(out, has_blocks ? "███" : "###");
    }
}

TEST(a_curve_in_braille_has_two_by_four_dots_a_character)
{
    static const int64_t values[] = {8, 4, 1, 0};
    const struct picture_graph graph = {values, 4, 8, 2, 2, true};
    char out[ROOM];
    picture_graph_line(out, &graph, 0);
    assert_string_equal(out, "⡇"); /* the left half of the character, up to the top */
    picture_graph_line(out, &graph, 1);
    assert_string_equal(out, "⣿⡀");
}

TEST(a_curve_in_ascii_fills_columns)
{
    static const int64_t values[] = {3, 2, 1, 0};
    const struct picture_graph graph = {values, 4, 3, 4, 3, false};
    static const char *const lines[] = {"#", "##", "###"};
    char out[ROOM];
    for (size_t row = 0; row < 3; row++) {
        picture_graph_line(out, &graph, row);
        assert_string_equal(out, lines[row]);
    }
}

TEST(a_column_shows_the_highest_of_its_values_and_the_least_shows_too)
{
    static const int64_t values[] = {0, 1, 0, 100};
    const struct picture_graph graph = {values, 4, 100, 2, 2, false};
    char out[ROOM];
    picture_graph_line(out, &graph, 0);
    assert_string_equal(out, " #");
    picture_graph_line(out, &graph, 1);
    assert_string_equal(out, "##");
}

TEST(few_values_are_stretched_and_unknown_ones_left_empty)
{
    static const int64_t values[] = {2, -1, 2};
    const struct picture_graph graph = {values, 3, 2, 6, 1, false};
    char out[ROOM];
    picture_graph_line(out, &graph, 0);
    assert_string_equal(out, "##  ##");
}

static struct doc *shares(void)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_list_begin(doc, "sites", NULL);
    for (int i = 1; i <= 2; i++) {
        doc_row_begin(doc);
        doc_ratio(doc, "share", "Share", i / 2.0);
        doc_bar(doc, i / 2.0, 0);
        doc_text(doc, "phase", "Phase", "forward");
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return doc;
}

TEST(a_table_has_bars_where_a_window_has_room_for_them)
{
    setenv("COLUMNS", "40", 1);
    assert_rendered(shares(), "text",
                    "  Share                        Phase\n"
                    " 50.0 %  ##########            forward\n"
                    "100.0 %  ####################  forward\n");
    unsetenv("COLUMNS");
    assert_rendered(shares(), "text",
                    "  Share  Phase\n"
                    " 50.0 %  forward\n"
                    "100.0 %  forward\n");
}

TEST(a_graph_names_its_top_and_fills_the_window)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    int64_t *values = doc_graph(doc, DOC_BYTES, 2);
    values[0] = 8;
    values[1] = 1;
    setenv("COLUMNS", "40", 1);
    assert_rendered(doc, "text",
                    "8 B  ##################\n     ##################\n     ##################\n"
                    "     ##################\n     ##################\n     ##################\n"
                    "     ##################\n     ###################################\n");
    unsetenv("COLUMNS");
}

TEST(programs_see_neither_bars_nor_graphs)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    assert_null(doc_graph(doc, DOC_BYTES, 2));
    doc_bar(doc, 0.5, 3);
    assert_rendered(doc, "json", "{\"schema\": \"x/1\"}\n");
}

UNIT_MAIN(NULL, NULL)
