/* SPDX-License-Identifier: MIT */
/* Numbers as people read them, at the values where the unit changes. */
#include "analyzer/render/units.h"
#include "tests/unit/unit_test.h"

static char text[UNITS_TEXT_BYTES];

TEST(bytes_change_unit_where_two_decimals_would_say_1024)
{
    assert_string_equal(units_bytes(text, 0), "0 B");
    assert_string_equal(units_bytes(text, 512), "512 B");
    assert_string_equal(units_bytes(text, 1023), "1023 B");
    assert_string_equal(units_bytes(text, 1024), "1.00 KiB");
    assert_string_equal(units_bytes(text, 1048570), "1023.99 KiB");
    assert_string_equal(units_bytes(text, 1048575), "1.00 MiB");
    assert_string_equal(units_bytes(text, 1610612736), "1.50 GiB");
    assert_string_equal(units_bytes(text, 232914944), "222.12 MiB"); /* 222.125: ties go to even */
    assert_string_equal(units_bytes(text, 233177088), "222.38 MiB");
    assert_string_equal(units_bytes(text, UINT64_MAX), "16.00 EiB");
}

TEST(a_request_at_the_limit_of_a_trace_was_larger)
{
    assert_string_equal(units_request(text, INT64_MAX - 1), "8.00 EiB");
    assert_string_equal(units_request(text, INT64_MAX), "more than 8 EiB");
}

TEST(deltas_carry_their_sign)
{
    assert_string_equal(units_delta(text, 0), "0 B");
    assert_string_equal(units_delta(text, 1610612736), "+1.50 GiB");
    assert_string_equal(units_delta(text, -512), "-512 B");
    assert_string_equal(units_delta(text, INT64_MIN), "-8.00 EiB");
}

TEST(durations_have_three_digits_until_a_minute)
{
    assert_string_equal(units_duration(text, 0), "0 ns");
    assert_string_equal(units_duration(text, 999), "999 ns");
    assert_string_equal(units_duration(text, 1000), "1.00 us");
    assert_string_equal(units_duration(text, 1125), "1.12 us");
    assert_string_equal(units_duration(text, 9996), "10.0 us");
    assert_string_equal(units_duration(text, 100500), "100 us");
    assert_string_equal(units_duration(text, 101500), "102 us");
    assert_string_equal(units_duration(text, 999499), "999 us");
    assert_string_equal(units_duration(text, 999500), "1.00 ms");
    assert_string_equal(units_duration(text, 12345678), "12.3 ms");
    assert_string_equal(units_duration(text, 999500000), "1.00 s");
    assert_string_equal(units_duration(text, 59940000000), "59.9 s");
    assert_string_equal(units_duration(text, 59950000000), "1 min 00 s");
    assert_string_equal(units_duration(text, 185000000000), "3 min 05 s");
    assert_string_equal(units_duration(text, 3599600000000), "1 h 00 min");
    assert_string_equal(units_duration(text, -1500000), "-1.50 ms");
}

TEST(ratios_are_percent)
{
    assert_string_equal(units_ratio(text, 0.1234), "12.3 %");
    assert_string_equal(units_ratio(text, 1), "100.0 %");
    assert_string_equal(units_ratio(text, -0.05), "-5.0 %");
    assert_string_equal(units_factor(text, 1.2345), "1.23");
    assert_string_equal(units_factor(text, 999.4), "999");
    assert_string_equal(units_factor(text, 1234.4), "1234");
}

UNIT_MAIN(NULL, NULL)
