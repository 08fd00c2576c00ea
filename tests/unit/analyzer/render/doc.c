/* SPDX-License-Identifier: MIT */
/* Tests that a document has the structure that was built, and that doc_check reports an error
   once. */
#include <math.h>
#include <string.h>

#include "analyzer/render/doc.h"
#include "tests/unit/unit_test.h"

static const struct doc_node *last_child(const struct doc_node *parent)
{
    const struct doc_node *node = parent->first_child;
    while (node && node->next)
        node = node->next;
    return node;
}

static const struct doc_node *last_of(const struct doc *doc)
{
    return last_child(doc_root(doc));
}

TEST(the_schema_is_the_first_key)
{
    struct doc *doc = doc_new("gpumemtrace.peak/1", DOC_BOTH);
    doc_count(doc, "events", "Events", 3);
    const struct doc_node *first = doc_root(doc)->first_child;
    assert_string_equal(first->key, "schema");
    assert_string_equal(first->text, "gpumemtrace.peak/1");
    assert_string_equal(first->next->key, "events");
    assert_int_equal(first->next->integer, 3);
    assert_int_equal(doc_check(doc, NULL), 0);
    doc_free(doc);
}

TEST(a_text_is_copied)
{
    char value[] = "before";
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    doc_text(doc, "name", "Name", value);
    memcpy(value, "after", sizeof "after");
    assert_string_equal(last_of(doc)->text, "before");
    doc_free(doc);
}

TEST(a_missing_text_is_unknown)
{
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    doc_text(doc, "name", "Name", NULL);
    assert_true(last_of(doc)->is_null);
    assert_int_equal(doc_check(doc, NULL), 0);
    doc_free(doc);
}

TEST(a_ratio_that_is_no_number_is_unknown)
{
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    doc_ratio(doc, "a", "A", NAN);
    assert_true(last_of(doc)->is_null);
    doc_ratio(doc, "b", "B", INFINITY);
    assert_true(last_of(doc)->is_null);
    doc_ratio(doc, "c", "C", 0.5);
    assert_false(last_of(doc)->is_null);
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

TEST(an_object_left_open_is_told)
{
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    doc_object_begin(doc, "device", NULL);
    assert_broken(doc, "not ended");
}

TEST(an_end_without_begin_is_told)
{
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    doc_object_end(doc);
    assert_broken(doc, "does not match");
}

TEST(a_list_ended_as_object_is_told)
{
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    doc_list_begin(doc, "rows", NULL);
    doc_object_end(doc);
    assert_broken(doc, "does not match");
}

TEST(a_row_ended_as_object_is_told)
{
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    doc_list_begin(doc, "rows", NULL);
    doc_row_begin(doc);
    doc_object_end(doc);
    assert_broken(doc, "does not match");
}

TEST(a_row_outside_a_list_is_told)
{
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    doc_row_begin(doc);
    assert_broken(doc, "row outside");
}

TEST(the_first_error_is_the_one_told)
{
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    doc_row_begin(doc);
    doc_object_end(doc);
    doc_count(doc, "a", "A", UINT64_MAX);
    assert_broken(doc, "row outside");
}

/* Makes a document with a detail field, a summary field, a note, and two rows, of which the
   second is a detail. Each row holds a field and a summary list. */
static struct doc *levels_doc(enum doc_level reads)
{
    struct doc *doc = doc_new("x/1", reads);
    doc_count(doc_detail(doc), "seq", "Event", 1);
    doc_text(doc_summary(doc), NULL, "Bar", "###");
    doc_note(doc, "A sentence.");
    doc_list_begin(doc, "rows", "Rows");
    for (int i = 0; i < 2; i++) {
        doc_row_begin(doc_detail_if(doc, i > 0));
        doc_count(doc, "n", "N", (uint64_t)i);
        assert_int_equal(doc_takes(doc, DOC_BOTH), reads != DOC_SUMMARY || i == 0);
        assert_int_equal(doc_takes(doc, DOC_DETAIL), reads != DOC_SUMMARY);
        doc_list_begin(doc_summary(doc), NULL, NULL);
        doc_list_end(doc);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    assert_int_equal(doc_check(doc, NULL), 0);
    return doc;
}

static size_t count_children(const struct doc_node *node)
{
    size_t count = 0;
    for (const struct doc_node *child = node->first_child; child; child = child->next)
        count++;
    return count;
}

TEST(a_summary_holds_no_detail_nor_what_is_inside_one)
{
    struct doc *doc = levels_doc(DOC_SUMMARY);
    const struct doc_node *root = doc_root(doc);
    assert_int_equal(count_children(root), 3);
    assert_string_equal(root->first_child->label, "Bar");
    assert_int_equal(root->first_child->next->type, DOC_NOTE);
    assert_int_equal(count_children(last_child(root)), 1);
    assert_int_equal(count_children(last_child(root)->first_child), 2);
    doc_free(doc);
}

TEST(details_hold_nothing_that_is_for_a_summary_only)
{
    struct doc *doc = levels_doc(DOC_DETAIL);
    const struct doc_node *root = doc_root(doc);
    assert_int_equal(count_children(root), 3);
    assert_string_equal(root->first_child->key, "schema");
    assert_string_equal(root->first_child->next->key, "seq");
    assert_int_equal(count_children(last_child(root)), 2);
    assert_int_equal(count_children(last_child(root)->first_child), 1);
    doc_free(doc);
}

TEST(a_reader_of_both_gets_all_of_it_with_its_level)
{
    struct doc *doc = levels_doc(DOC_BOTH);
    const struct doc_node *root = doc_root(doc), *rows = last_child(root);
    assert_int_equal(count_children(root), 5);
    assert_int_equal(root->first_child->next->level, DOC_DETAIL);
    assert_int_equal(rows->level, DOC_BOTH);
    assert_int_equal(rows->first_child->level, DOC_BOTH);
    assert_int_equal(last_child(rows)->level, DOC_DETAIL);
    assert_int_equal(last_child(rows->first_child)->level, DOC_SUMMARY);
    doc_free(doc);
}

static void add_frame(struct doc *doc, const char *function, int line)
{
    doc_row_begin(doc);
    doc_text(doc, "function", "Function", function);
    doc_count(doc, "line", "Line", (uint64_t)line);
    doc_row_end(doc);
}

TEST(rows_that_say_the_same_share_their_fields)
{
    struct doc *doc = doc_new("x/1", DOC_DETAIL);
    doc_list_begin(doc, "frames", "Frames");
    for (int i = 0; i < 1000; i++)
        add_frame(doc, i % 2 ? "odd" : "even", i % 2);
    add_frame(doc, "odd", 2);
    doc_list_end(doc);
    assert_int_equal(doc_check(doc, NULL), 0);
    const struct doc_node *even = last_of(doc)->first_child, *odd = even->next;
    assert_string_equal(even->first_child->text, "even");
    assert_string_equal(odd->first_child->text, "odd");
    assert_int_equal(odd->first_child->next->integer, 1);
    assert_ptr_equal(even->next->next->first_child, even->first_child);
    assert_ptr_equal(odd->next->next->first_child, odd->first_child);
    const struct doc_node *last = last_child(last_of(doc));
    assert_int_equal(last->first_child->next->integer, 2);
    assert_ptr_equal(last->first_child->text, odd->first_child->text);
    doc_free(doc);
}

TEST(a_wrong_end_is_told_where_nothing_is_kept)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_list_begin(doc_detail(doc), "rows", "Rows");
    doc_row_begin(doc);
    doc_list_end(doc);
    assert_broken(doc, "does not match");
}

TEST(a_field_without_a_label_and_a_detail_without_a_key_are_told)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_count(doc_detail(doc), "seq", NULL, 1);
    assert_broken(doc, "without a label");
    doc = doc_new("x/1", DOC_DETAIL);
    doc_count(doc_summary(doc), NULL, "Share", 1);
    assert_int_equal(doc_check(doc, NULL), 0);
    doc_list_begin(doc, NULL, "Rows");
    doc_list_end(doc);
    assert_broken(doc, "without a key");
}

TEST(words_of_a_field_that_was_dropped_go_to_no_other)
{
    struct doc *doc = doc_new("x/1", DOC_SUMMARY);
    doc_count(doc, "a", "A", 1);
    doc_count(doc_detail(doc), "b", "B", 2);
    doc_words(doc, "two");
    assert_null(last_of(doc)->words);
    doc_count(doc, "c", "C", 3);
    doc_words(doc, "%s", "three");
    assert_string_equal(last_of(doc)->words, "three");
    doc_free(doc);
}

/* Returns the keys of the root's children in one string. */
static const char *keys_of(const struct doc *doc, char keys[64])
{
    *keys = '\0';
    for (const struct doc_node *node = doc_root(doc)->first_child; node; node = node->next)
        strncat(keys, node->key, 63 - strlen(keys));
    return keys;
}

TEST(what_is_known_late_moves_up)
{
    const enum doc_level reads[] = {DOC_BOTH, DOC_SUMMARY};
    const char *const expected[] = {"schemaxyabz", "xyabz"}; /* a summary has no schema */
    char keys[64];
    for (int i = 0; i < 2; i++) {
        struct doc *doc = doc_new("x/1", reads[i]);
        struct doc_node *above = doc_last(doc);
        doc_count(doc, "a", "A", 1);
        doc_count(doc, "b", "B", 2);
        struct doc_node *last = doc_last(doc);
        doc_count(doc, "x", "X", 3);
        doc_count(doc, "y", "Y", 4);
        doc_move_up(doc, last, above);
        doc_count(doc, "z", "Z", 5);
        assert_string_equal(keys_of(doc, keys), expected[i]);
        assert_int_equal(doc_check(doc, NULL), 0);
        doc_free(doc);
    }
}

TEST(nothing_moves_where_nothing_was_added)
{
    char keys[64];
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    struct doc_node *above = doc_last(doc);
    doc_move_up(doc, above, above);
    doc_count(doc, "a", "A", 1);
    doc_move_up(doc, doc_last(doc), above);
    assert_string_equal(keys_of(doc, keys), "schemaa");
    doc_move_up(doc, above, above);
    assert_string_equal(keys_of(doc, keys), "schemaa");
    doc_free(doc);
}

TEST(a_deep_document_is_freed)
{
    struct doc *doc = doc_new("x/1", DOC_BOTH);
    for (int i = 0; i < 100000; i++)
        doc_object_begin(doc, "inner", NULL);
    for (int i = 0; i < 100000; i++)
        doc_object_end(doc);
    assert_int_equal(doc_check(doc, NULL), 0);
    doc_free(doc);
}

UNIT_MAIN(NULL, NULL)
