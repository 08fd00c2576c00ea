/* SPDX-License-Identifier: MIT */
/* Compares the highest value since a moment, as high_water computes it, with an array of the
   values at all moments. */
#include "analyzer/util/high_water.h"
#include "tests/unit/unit_test.h"

enum { MOMENTS = 2000 };

static uint64_t values[MOMENTS]; /* the highest value in each moment */

static uint64_t highest_since(size_t moment, size_t now)
{
    uint64_t highest = 0;
    for (size_t i = moment; i <= now; i++)
        if (values[i] > highest)
            highest = values[i];
    return highest;
}

TEST(the_highest_value_since_any_moment_is_known)
{
    struct high_water water = {0};
    uint64_t value = 0;
    uint32_t random = 7;
    for (size_t now = 1; now < MOMENTS; now++) {
        random = random * 1664525 + 1013904223;
        uint64_t step = (random >> 10) % 100;
        assert_int_equal(high_water_begin(&water, now, value, NULL), 0);
        values[now] = value;
        value = random >> 31 || step > value ? value + step : value - step;
        if (value > values[now])
            values[now] = value;
        assert_int_equal(high_water_raise(&water, value, NULL), 0);
        for (size_t moment = 1; moment <= now; moment += 37)
            assert_int_equal(high_water_since(&water, moment), highest_since(moment, now));
    }
    assert_true(water.count < MOMENTS);
    high_water_release(&water);
}

/* high_water_add_since adds bytes that were held since an earlier moment, but not counted then. */
TEST(what_is_learned_late_counts_from_its_own_beginning)
{
    struct high_water water = {0};
    uint64_t held = 0;
    uint32_t random = 99;
    for (size_t now = 0; now < MOMENTS; now++)
        values[now] = 0;
    for (size_t now = 1; now < MOMENTS; now++) {
        random = random * 1664525 + 1013904223;
        uint64_t bytes = (random >> 10) % 50;
        values[now] = held;
        if (random >> 31 && bytes <= held) {
            held -= bytes;
            values[now] = held;
            assert_int_equal(high_water_begin(&water, now, held, NULL), 0);
        } else {
            size_t since = now - (random >> 4) % (now < 20 ? now : 20);
            for (size_t i = since; i <= now; i++)
                values[i] += bytes;
            held += bytes;
            assert_int_equal(high_water_add_since(&water, since, bytes, NULL), 0);
        }
        assert_int_equal(high_water_since(&water, 0), highest_since(0, now));
    }
    high_water_release(&water);
}

TEST(a_moment_that_is_forgotten_leaves_the_earlier_ones_as_they_are)
{
    struct high_water water = {0};
    assert_int_equal(high_water_raise(&water, 50, NULL), 0);
    assert_int_equal(high_water_begin(&water, 1, 20, NULL), 0);
    assert_int_equal(high_water_begin(&water, 2, 10, NULL), 0);
    high_water_forget(&water, 2);
    assert_int_equal(high_water_since(&water, 2), 10);
    high_water_forget(&water, 1);
    assert_int_equal(water.count, 2);
    assert_int_equal(high_water_since(&water, 1), 20);
    assert_int_equal(high_water_since(&water, 0), 50);
    high_water_release(&water);
}

UNIT_MAIN(NULL, NULL)
