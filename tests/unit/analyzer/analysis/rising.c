/* SPDX-License-Identifier: MIT */
/* Tells growing requests from others, by their sizes and by the batches. */
#include "analyzer/analysis/steps/rising.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>

enum { SIZES_MOST = 20 };

static const struct {
    const char *name;
    uint64_t sizes[SIZES_MOST]; /* 0 ends them */
    bool goes_on, is_even;
} cases[] = {
    {"a concatenation of equal batches", {470, 940, 1410, 1880, 2350}, true, true},
    {"only three rises", {470, 940, 1410, 1880}, false, true},
    {"a short last batch", {470, 940, 1410, 1880, 2150}, true, false},
    {"a batch that is all of another size each time", {100, 110, 180, 190, 270}, false, false},
    {"the same, often", {100, 110, 180, 190, 270, 280, 300, 390, 400}, true, false},
    {"the channels of an encoder double", {64, 128, 256, 512, 1024, 2048}, false, false},
    {"the layers of a cache of tokens", {8, 8, 9, 9, 10, 10, 11, 11, 12}, true, true},
    {"a constant request", {512, 512, 512, 512, 512, 512}, false, true},
    {"a batch that is halved", {512, 256, 128, 64, 32, 16}, false, true},
    {"each forward is as long", {1, 2, 3, 4, 5, 1, 2, 3, 4, 5}, false, true},
    {"the last forward is longer", {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6}, true, true},
};

TEST(the_sizes_of_requests_tell_whether_they_go_on_to_grow)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rising rising = {0};

        for (size_t n = 0; n < SIZES_MOST && cases[i].sizes[n]; n++)
            rising_add(&rising, &(struct rising_request){.size_bytes = cases[i].sizes[n]});
        if (rising_goes_on(&rising) != cases[i].goes_on ||
            rising_is_even(&rising) != cases[i].is_even)
            fail_msg("%s", cases[i].name);
    }
}

TEST(the_largest_request_before_the_last_one_is_kept_over_all_runs)
{
    static const uint64_t sizes[] = {300, 100, 100, 200, 900}, most[] = {0, 300, 300, 300, 300};
    struct rising rising = {0};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        rising_add(&rising, &(struct rising_request){.size_bytes = sizes[n]});
        if (rising.most_before_bytes != most[n])
            fail_msg("request %zu", n);
    }
}

TEST(a_buffer_that_doubles_is_told_after_four_doublings)
{
    static const struct {
        uint64_t sizes[SIZES_MOST];
        bool doubles;
    } rows[] = {
        {{64, 128, 256, 512}, false},
        {{64, 128, 256, 512, 1024}, true},
        {{64, 128, 256, 512, 520, 1040}, false},
        {{100, 150, 225, 338, 507, 760}, false},
        {{1, 2, 4, 8, 16, 1, 2, 4, 8, 16}, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rising rising = {0};

        for (size_t n = 0; n < SIZES_MOST && rows[i].sizes[n]; n++)
            rising_add(&rising, &(struct rising_request){.size_bytes = rows[i].sizes[n]});
        if (rising_doubles(&rising) != rows[i].doubles)
            fail_msg("row %zu", i);
    }
}

static const struct {
    const char *name;
    uint64_t sizes[SIZES_MOST], batches[SIZES_MOST];
    bool is_beside, goes_on;
} batch_cases[] = {
    {"data sorted by length", {4, 5, 6, 7, 8, 9}, {4, 5, 6, 7, 8, 9}, false, false},
    {"two layers of it", {4, 4, 5, 5, 6, 6, 7, 7, 8}, {1, 1, 1, 1, 2, 2, 3, 3, 3}, false, false},
    {"a buffer beside the one before", {4, 5, 6, 7, 8, 9}, {4, 5, 6, 7, 8, 9}, true, true},
    {"batches of any length", {4, 5, 6, 7, 8, 9}, {4, 7, 2, 5, 3, 9}, false, true},
    {"batches of one length", {4, 5, 6, 7, 8, 9}, {4, 4, 4, 4, 4, 4}, false, true},
};

TEST(requests_that_grow_as_the_batches_do_are_no_buffer)
{
    for (size_t i = 0; i < sizeof batch_cases / sizeof *batch_cases; i++) {
        struct rising rising = {0};

        for (size_t n = 0; n < SIZES_MOST && batch_cases[i].sizes[n]; n++)
            rising_add(&rising, &(struct rising_request){.size_bytes = batch_cases[i].sizes[n],
                                                         .batch_bytes = batch_cases[i].batches[n],
                                                         .is_beside = batch_cases[i].is_beside});
        if (rising_goes_on(&rising) != batch_cases[i].goes_on)
            fail_msg("%s", batch_cases[i].name);
    }
}

TEST(the_run_is_described_from_its_first_size)
{
    const uint64_t sizes[] = {7, 9, 2, 5, 5, 9};
    struct rising rising = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        rising_add(&rising, &(struct rising_request){.size_bytes = sizes[i]});
    assert_int_equal(rising.first_bytes, 2);
    assert_int_equal(rising.last_bytes, 9);
    assert_int_equal(rising.rises_count, 2);
    assert_int_equal(rising.least_rise_bytes, 3);
    assert_int_equal(rising.most_rise_bytes, 4);
    assert_int_equal(rising.earlier_rises_count, 1);
    assert_int_equal(rising.falls_count, 1);
    assert_false(rising_is_kept(&rising, 3, 0));
}

TEST(blocks_that_get_larger_are_kept_if_none_was_freed)
{
    struct rising rising = {0};
    for (uint64_t bytes = 10; bytes <= 50; bytes += 10)
        rising_add(&rising, &(struct rising_request){.size_bytes = bytes});
    assert_true(rising_is_kept(&rising, 5, 0));
    assert_false(rising_is_kept(&rising, 5, 1));
    rising_add(&rising, &(struct rising_request){.size_bytes = 50});
    assert_false(rising_is_kept(&rising, 6, 0));
}

UNIT_MAIN(NULL, NULL)
