/* SPDX-License-Identifier: MIT */
/* The line through the bytes at the ends of steps, and the windows that bound its memory. */
#include "analyzer/analysis/steps/trend.h"
#include "tests/unit/unit_test.h"

#include <math.h>

enum { ENDS_MOST = 12 };

static const struct {
    const char *name;
    uint64_t bytes[ENDS_MOST]; /* 0 ends them */
    double slope, low, high;   /* bytes per end */
    bool rises;
} rows[] = {
    {"two ends", {10, 15}, 5, 5, 5, true},
    {"three ends that rise", {10, 15, 20}, 5, 5, 5, true},
    {"five ends that rise", {10, 15, 20, 25, 30}, 5, 5, 5, true},
    {"constant", {7, 7, 7, 7, 7, 7, 7, 7}, 0, 0, 0, false},
    {"falls", {80, 70, 60, 50, 40, 30, 20, 10}, -10, -10, -10, false},
    {"rises, then one outlier", {10, 20, 30, 900, 50, 60, 70, 80}, 10, 10, 10, true},
    {"one end is higher", {10, 10, 10, 90, 10, 10, 10, 10}, 0, 0, 0, false},
    {"one step up", {10, 10, 10, 10, 50, 50, 50, 50}, 20.0 / 3, 0, 10, false},
    {"every second end is higher", {10, 30, 10, 30, 10, 30, 10, 30}, 0, 0, 20.0 / 3, false},
    {"rises every second end", {10, 10, 20, 20, 30, 30, 40, 40}, 5, 10.0 / 3, 5, true},
    {"falls back once", {10, 20, 30, 40, 10, 20, 30, 40}, 10.0 / 3, 0, 10, false},
};

static struct trend trend_of(const uint64_t *bytes, size_t most, uint64_t samples[TREND_SAMPLES])
{
    struct trend trend = {.samples = samples};
    for (size_t i = 0; i < most && bytes[i]; i++)
        trend_add(&trend, i, i + 1, bytes[i]);
    trend_close(&trend);
    return trend;
}

static bool is_near(double found, double expected)
{
    return fabs(found - expected) < 1e-9;
}

TEST(the_slope_is_the_median_of_all_pairs_with_its_bounds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t samples[TREND_SAMPLES];
        const struct trend trend = trend_of(rows[i].bytes, ENDS_MOST, samples);
        const size_t count = (size_t)trend.open_until;
        const struct trend_line line = trend_fit(&trend, 0, count);

        if (!is_near(line.slope, rows[i].slope) || !is_near(line.low, rows[i].low) ||
            !is_near(line.high, rows[i].high) || trend_rises(&trend, 0, count) != rows[i].rises)
            fail_msg("%s: %g, %g to %g", rows[i].name, line.slope, line.low, line.high);
    }
}

TEST(a_window_keeps_the_lowest_end)
{
    uint64_t samples[TREND_SAMPLES];
    struct trend trend = {.samples = samples};
    for (uint64_t end = 0; end < 4 * TREND_SAMPLES; end++)
        trend_add(&trend, end, end + 1, end % 4 == 2 ? end : 1000 + end);
    trend_close(&trend);
    assert_int_equal(trend.window, 4);
    for (uint64_t i = 0; i < TREND_SAMPLES; i++)
        assert_int_equal(samples[i], 4 * i + 2);
    const struct trend_line line = trend_fit(&trend, 0, TREND_SAMPLES);
    assert_true(is_near(line.slope, 1));
}

TEST(a_value_for_many_ends_counts_as_often_as_one_for_each)
{
    uint64_t one_samples[TREND_SAMPLES], each_samples[TREND_SAMPLES];
    struct trend one = {.samples = one_samples}, each = {.samples = each_samples};
    trend_add(&one, 0, 50, 5);
    trend_add(&one, 50, 300, 9);
    for (uint64_t end = 0; end < 300; end++)
        trend_add(&each, end, end + 1, end < 50 ? 5 : 9);
    trend_close(&one);
    trend_close(&each);
    assert_int_equal(one.window, each.window);
    assert_memory_equal(one_samples, each_samples, 300 / one.window * sizeof *one_samples);
}

UNIT_MAIN(NULL, NULL)
