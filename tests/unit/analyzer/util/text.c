/* SPDX-License-Identifier: MIT */
/* The bounded string builder, UTF-8 columns and the nearest name. */
#include <string.h>

#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"
#include "tests/unit/unit_test.h"

TEST(additions_follow_each_other)
{
    struct text text;
    text_init(&text, 1000);
    assert_string_equal(text.data, "");
    text_add(&text, "a");
    text_addf(&text, "%d-%s", 12, "b");
    text_fill(&text, '.', 3);
    text_add_bytes(&text, "xyz", 2);
    assert_string_equal(text.data, "a12-b...xy");
    assert_int_equal(text.length, 10);
    assert_false(text_failed(&text));
    text_release(&text);
    assert_string_equal(text.data, "");
}

TEST(the_limit_is_kept_and_the_failure_remembered)
{
    struct text text;
    text_init(&text, 4);
    text_add(&text, "1234");
    assert_false(text_failed(&text));
    text_add(&text, "5");
    assert_true(text_failed(&text));
    text_addf(&text, "%s", "");
    assert_true(text_failed(&text));
    assert_string_equal(text.data, "1234");
    text_clear(&text);
    assert_false(text_failed(&text));
    text_addf(&text, "%s", "abcd");
    assert_string_equal(text.data, "abcd");
    text_release(&text);
}

TEST(long_texts_grow)
{
    struct text text;
    text_init(&text, 1 << 20);
    for (int i = 0; i < 10000; i++)
        text_addf(&text, "%04d", i);
    assert_int_equal(text.length, 40000);
    assert_int_equal(strlen(text.data), 40000);
    assert_memory_equal(text.data + 39996, "9999", 5);
    text_release(&text);
}

TEST(words_are_wrapped_below_each_other)
{
    struct text text;
    char words[120];
    memset(words, 'w', sizeof words);
    words[60] = ' ';
    words[sizeof words - 1] = '\0';
    text_init(&text, 1000);
    text_add_wrapped(&text, "head  ", words);
    assert_int_equal(text.length, 6 + 60 + 1 + 6 + 58 + 1);
    assert_memory_equal(text.data + 66, "\n      w", 8);
    text_release(&text);
}

TEST(a_list_of_names_reads_like_a_sentence)
{
    const char *const names[] = {"a", "b", "c"};
    struct text text;
    text_init(&text, 100);
    text_add_list(&text, names, 1, " or ");
    text_add(&text, "; ");
    text_add_list(&text, names, 3, " or ");
    assert_string_equal(text.data, "a; a, b or c");
    text_release(&text);
}

static void assert_decoded(const char *string, size_t length, uint32_t expected)
{
    uint32_t code = 0;
    assert_int_equal(utf8_next(string, &code), length);
    assert_int_equal(code, expected);
}

TEST(valid_sequences_are_decoded)
{
    assert_decoded("a", 1, 'a');
    assert_decoded("\xc3\xa4", 2, 0xe4);
    assert_decoded("\xe2\x82\xac", 3, 0x20ac);
    assert_decoded("\xf0\x9f\x98\x80", 4, 0x1f600);
    assert_decoded("\xf4\x8f\xbf\xbf", 4, 0x10ffff);
}

TEST(invalid_sequences_are_one_replacement_a_byte)
{
    assert_decoded("\x80", 1, UTF8_REPLACEMENT);             /* continuation first */
    assert_decoded("\xc3", 1, UTF8_REPLACEMENT);             /* cut off */
    assert_decoded("\xe2\x82", 1, UTF8_REPLACEMENT);         /* cut off */
    assert_decoded("\xc0\x80", 1, UTF8_REPLACEMENT);         /* overlong */
    assert_decoded("\xed\xa0\x80", 1, UTF8_REPLACEMENT);     /* surrogate */
    assert_decoded("\xf4\x90\x80\x80", 1, UTF8_REPLACEMENT); /* beyond Unicode */
    assert_decoded("\xff", 1, UTF8_REPLACEMENT);
}

TEST(columns_follow_width_not_bytes)
{
    assert_int_equal(utf8_text_columns(""), 0);
    assert_int_equal(utf8_text_columns("abc"), 3);
    assert_int_equal(utf8_text_columns("\xc3\xa9"), 1);
    assert_int_equal(utf8_text_columns("e\xcc\x81"), 1);        /* combining acute */
    assert_int_equal(utf8_text_columns("\xe6\x97\xa5"), 2);     /* CJK */
    assert_int_equal(utf8_text_columns("\xf0\x9f\x98\x80"), 2); /* emoji */
}

TEST(distance_counts_insertions_deletions_replacements_and_swaps)
{
    assert_int_equal(nearest_distance("peak", "peak"), 0);
    assert_int_equal(nearest_distance("peek", "peak"), 1);
    assert_int_equal(nearest_distance("pek", "peak"), 1);
    assert_int_equal(nearest_distance("peakk", "peak"), 1);
    assert_int_equal(nearest_distance("paek", "peak"), 1);
    assert_int_equal(nearest_distance("", "peak"), 4);
    assert_int_equal(nearest_distance("kitten", "sitting"), 3);
}

TEST(the_nearest_name_must_be_near)
{
    const char *const names[] = {"report", "peak", "check"};
    assert_string_equal(nearest_name("reprot", names, 3), "report");
    assert_string_equal(nearest_name("chekc", names, 3), "check");
    assert_null(nearest_name("zzz", names, 3));
    assert_null(nearest_name("", names, 3));
    char long_name[200];
    memset(long_name, 'p', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    assert_null(nearest_name(long_name, names, 3));
}

UNIT_MAIN(NULL, NULL)
