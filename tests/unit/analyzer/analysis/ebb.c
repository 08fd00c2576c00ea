/* SPDX-License-Identifier: MIT */
/* The fewest live blocks of a line of which most, all or no blocks are freed. */
#include "analyzer/analysis/steps/ebb.h"
#include "tests/unit/unit_test.h"

/* Blocks that are made in order. A block is freed before the next one is made, except: */
static const struct {
    const char *name;
    uint64_t births, kept_first, kept_last, lost_every; /* 0: none is lost */
    uint64_t most;                                      /* more are not kept; 0: no limit */
    bool rises;
} rows[] = {
    {"lost now and then", 120, 0, 0, 5, 0, true},
    {"lost seldom", 1000, 0, 0, 90, 0, true},
    {"lost in each second birth", 40, 0, 0, 2, 0, true},
    {"lost beside buffers", 120, 9, 0, 5, 0, true},
    {"all freed", 120, 0, 0, 0, 0, false},
    {"buffers from the start", 120, 12, 0, 0, 0, false},
    {"many buffers from the start", 120, 50, 0, 0, 0, false},
    {"most are buffers from the start", 120, 90, 0, 0, 0, false},
    {"still in use at the end", 120, 0, 12, 0, 0, false},
    {"both", 120, 12, 12, 0, 0, false},
    {"a cache that is full", 400, 0, 0, 5, 20, false},
    {"a cache that is full late", 160, 0, 0, 5, 20, false},
    {"too few births", 3, 0, 0, 1, 0, false},
    {"one birth", 1, 0, 0, 0, 0, false},
};

static struct ebb ebb_of(size_t row)
{
    struct ebb ebb = {0};
    uint64_t kept = 0;
    for (uint64_t n = 0; n < rows[row].births; n++) {
        ebb_birth(&ebb, kept);
        const uint64_t every = rows[row].lost_every;
        const bool is_lost = every && n % every == every - 1;
        const bool is_kept =
            n < rows[row].kept_first || n + rows[row].kept_last >= rows[row].births;
        kept += (is_lost && (!rows[row].most || kept < rows[row].most)) || is_kept;
    }
    return ebb;
}

TEST(the_fewest_rise_if_blocks_are_lost_now_and_then)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ebb ebb = ebb_of(i);
        if (ebb_rises(&ebb) != rows[i].rises)
            fail_msg("%s: %d", rows[i].name, ebb_rises(&ebb));
    }
}

TEST(a_window_keeps_the_fewest_of_its_births)
{
    static const uint64_t live[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
    static const uint64_t least[] = {1, 1, 5, 2, 3, 5};
    struct ebb ebb = {0};
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        ebb_birth(&ebb, live[i]);
    assert_int_equal(ebb.window, 2);
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        assert_int_equal(ebb.least[i], least[i]);
}

UNIT_MAIN(NULL, NULL)
