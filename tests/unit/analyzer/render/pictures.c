/* SPDX-License-Identifier: MIT */
/* Bars and curves, character by character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/render/pictures.h"
#include "rendered.h"

enum { ROOM = 64 };

static void a_bar_is_as_wide_as_its_share_to_an_eighth(void **state)
{
    char out[ROOM];
    (void)state;
    picture_bar(out, 0.5, 4, true);
    assert_string_equal(out, "██");
    picture_bar(out, 0.28125, 4, true); /* nine eighths of the width of a character */
    assert_string_equal(out, "█▏");
    picture_bar(out, 0.46875, 4, true);
    assert_string_equal(out, "█▉");
}

static void a_bar_in_ascii_has_whole_columns(void **state)
{
    char out[ROOM];
    (void)state;
    picture_bar(out, 0.5, 5, false);
    assert_string_equal(out, "###");
    picture_bar(out, 0.49, 5, false);
    assert_string_equal(out, "##");
}

static void a_bar_stays_between_nothing_and_its_columns(void **state)
{
    char out[ROOM];
    (void)state;
    for (int has_blocks = 0; has_blocks < 2; has_blocks++) {
        picture_bar(out, -1, 3, has_blocks);
        assert_string_equal(out, "");
        picture_bar(out, 0, 3, has_blocks);
        assert_string_equal(out, "");
        picture_bar(out, 7, 3, has_blocks);
        assert_string_equal(out, has_blocks ? "███" : "###");
    }
}

static void a_curve_in_braille_has_two_by_four_dots_a_character(void **state)
{
    static const int64_t values[] = {8, 4, 1, 0};
    const struct picture_graph graph = {values, 4, 8, 2, 2, true};
    char out[ROOM];
    (void)state;
    picture_graph_line(out, &graph, 0);
    assert_string_equal(out, "⡇"); /* the left half of the character, up to the top */
    picture_graph_line(out, &graph, 1);
    assert_string_equal(out, "⣿⡀");
}

static void a_curve_in_ascii_fills_columns(void **state)
{
    static const int64_t values[] = {3, 2, 1, 0};
    const struct picture_graph graph = {values, 4, 3, 4, 3, false};
    static const char *const lines[] = {"#", "##", "###"};
    char out[ROOM];
    (void)state;
    for (size_t row = 0; row < 3; row++) {
        picture_graph_line(out, &graph, row);
        assert_string_equal(out, lines[row]);
    }
}

static void a_column_shows_the_highest_of_its_values_and_the_least_shows_too(void **state)
{
    static const int64_t values[] = {0, 1, 0, 100};
    const struct picture_graph graph = {values, 4, 100, 2, 2, false};
    char out[ROOM];
    (void)state;
    picture_graph_line(out, &graph, 0);
    assert_string_equal(out, " #");
    picture_graph_line(out, &graph, 1);
    assert_string_equal(out, "##");
}

static void few_values_are_stretched_and_unknown_ones_left_empty(void **state)
{
    static const int64_t values[] = {2, -1, 2};
    const struct picture_graph graph = {values, 3, 2, 6, 1, false};
    char out[ROOM];
    (void)state;
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

static void a_table_has_bars_where_a_window_has_room_for_them(void **state)
{
    (void)state;
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

static void a_graph_names_its_top_and_fills_the_window(void **state)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    int64_t *values = doc_graph(doc, DOC_BYTES, 2);
    (void)state;
    values[0] = 8;
    values[1] = 1;
    setenv("COLUMNS", "40", 1);
    assert_rendered(doc, "text",
                    "8 B  ##################\n     ##################\n     ##################\n"
                    "     ##################\n     ##################\n     ##################\n"
                    "     ##################\n     ###################################\n");
    unsetenv("COLUMNS");
}

static void programs_see_neither_bars_nor_graphs(void **state)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    (void)state;
    assert_null(doc_graph(doc, DOC_BYTES, 2));
    doc_bar(doc, 0.5, 3);
    assert_rendered(doc, "json", "{\"schema\": \"x/1\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_is_as_wide_as_its_share_to_an_eighth),
        cmocka_unit_test(a_bar_in_ascii_has_whole_columns),
        cmocka_unit_test(a_bar_stays_between_nothing_and_its_columns),
        cmocka_unit_test(a_curve_in_braille_has_two_by_four_dots_a_character),
        cmocka_unit_test(a_curve_in_ascii_fills_columns),
        cmocka_unit_test(a_column_shows_the_highest_of_its_values_and_the_least_shows_too),
        cmocka_unit_test(few_values_are_stretched_and_unknown_ones_left_empty),
        cmocka_unit_test(a_table_has_bars_where_a_window_has_room_for_them),
        cmocka_unit_test(a_graph_names_its_top_and_fills_the_window),
        cmocka_unit_test(programs_see_neither_bars_nor_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
