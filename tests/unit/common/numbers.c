/* SPDX-License-Identifier: MIT */
/* Tests sizes, numbers and shares as people type them: the values of valid texts, and the
   refusal of invalid texts. */
#include <limits.h>
#include <string.h>

#include "common/numbers.h"
#include "tests/unit/unit_test.h"

static void assert_size(const char *text, uint64_t expected)
{
    struct err err = {0};
    uint64_t bytes = 0;
    if (size_parse(text, &bytes, &err))
        fail_msg("'%s': %s", text, err.message);
    assert_int_equal(bytes, expected);
}

static void assert_no_size(const char *text, const char *part_of_message)
{
    struct err err = {0};
    uint64_t bytes = 42;
    if (!size_parse(text, &bytes, &err))
        fail_msg("'%s' was taken", text);
    assert_int_equal(bytes, 42);
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.message, part_of_message));
    assert_non_null(strstr(err.message, text));
}

TEST(sizes_are_binary_unless_they_say_kb_mb_gb_tb)
{
    assert_size("4GiB", 4294967296);
    assert_size("4G", 4294967296);
    assert_size("4GB", 4000000000);
    assert_size("512MiB", 536870912);
    assert_size("64KiB", 65536);
    assert_size("2TiB", 2199023255552);
    assert_size("3TB", 3000000000000);
    assert_size("4294967296", 4294967296);
    assert_size("4294967296B", 4294967296);
    assert_size("0", 0);
}

TEST(case_and_spaces_before_the_unit_do_not_matter)
{
    assert_size("4gib", 4294967296);
    assert_size("4 GiB", 4294967296);
    assert_size("7k", 7168);
}

TEST(fractions_are_exact_and_rounded_down)
{
    assert_size("1.5GiB", 1610612736);
    assert_size("0.1KiB", 102);
    assert_size("1.25GB", 1250000000);
    assert_size("0.0000001TiB", 109951);
    assert_size("0.00000009TiB", 0); /* digits after the seventh are ignored */
}

TEST(the_largest_size_is_taken_and_the_next_refused)
{
    assert_size("9223372036854775807", INT64_MAX);
    assert_size("8388607TiB", 8388607ull << 40);
    assert_no_size("9223372036854775808", "the most is 9223372036854775807 bytes");
    assert_no_size("8388608TiB", "too large");
    assert_no_size("18446744073709551616", "too large");
    assert_no_size("16777216TiB", "too large");
    assert_no_size("99999999999999999999GiB", "too large");
}

TEST(what_is_no_size_is_quoted)
{
    static const char *const junk[] = {"",      "-1",    "GiB",   "4XB", "4GiBs", "1.5",
                                       "1.GiB", ".5GiB", "0x10",  "1e9", "4 5",   " 4GiB",
                                       "+4",    "1.5B",  "4G iB", "nan", "4GiB "};
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++)
        assert_no_size(junk[i], "is not a size");
}

TEST(an_error_may_be_ignored)
{
    uint64_t bytes;
    assert_int_equal(size_parse("junk", &bytes, NULL), -1);
}

TEST(numbers_keep_to_their_range)
{
    struct err err = {0};
    long number = 42;
    assert_int_equal(number_parse("7", 1, 10, &number, &err), 0);
    assert_int_equal(number, 7);
    assert_int_equal(number_parse("-3", -5, 5, &number, &err), 0);
    assert_int_equal(number, -3);
    assert_int_equal(number_parse("0", 1, LONG_MAX, &number, &err), -1);
    assert_string_equal(err.message, "'0' is out of range; the least is 1");
    assert_int_equal(number_parse("11", 1, 10, &number, &err), -1);
    assert_string_equal(err.message, "'11' is out of range; it goes from 1 to 10");
    assert_int_equal(number_parse("99999999999999999999", 1, LONG_MAX, &number, &err), -1);
    assert_int_equal(number, -3);
}

TEST(what_is_no_number_is_refused)
{
    static const char *const junk[] = {"", "-", "x", "1x", "1.0", " 1", "0x1", "1 "};
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        struct err err = {0};
        long number;
        if (!number_parse(junk[i], 0, 10, &number, &err))
            fail_msg("'%s' was taken", junk[i]);
        assert_non_null(strstr(err.message, "is not a whole number"));
    }
}

TEST(shares_are_percent_or_fractions)
{
    struct err err = {0};
    double ratio = -1;
    assert_int_equal(ratio_parse("2%", &ratio, &err), 0);
    assert_true(ratio > 0.0199999 && ratio < 0.0200001);
    assert_int_equal(ratio_parse("0.02", &ratio, &err), 0);
    assert_true(ratio > 0.0199999 && ratio < 0.0200001);
    assert_int_equal(ratio_parse("0", &ratio, &err), 0);
    assert_true(ratio == 0);
    assert_int_equal(ratio_parse("500%", &ratio, &err), 0);
    assert_true(ratio == 5);
    /* 5 is surely meant as 5%. */
    static const char *const junk[] = {"",    "%",   "-1%", "x",     "2%%",
                                       "0x2", "2 %", "5",   "1e999", "nan"};
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++)
        if (!ratio_parse(junk[i], &ratio, &err))
            fail_msg("'%s' was taken", junk[i]);
}

UNIT_MAIN(NULL, NULL)
