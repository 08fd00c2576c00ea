/* SPDX-License-Identifier: MIT */
/* A call stack whose blocks are kept, replaced or freed from step to step. */
#include "analyzer/analysis/steps/turnover.h"
#include "tests/unit/unit_test.h"

enum { STEPS_MOST = 24, BLOCKS_MOST = 64 };

/* One step: sizes of the blocks that it makes, and the ages of the blocks that it frees first. */
struct step {
    uint64_t born[3];  /* 0 ends them */
    uint64_t freed[3]; /* 1: the oldest live block, 2: the youngest; 0 ends them */
};

/* Each letter is a step. */
enum { OLDEST = 1, YOUNGEST };
static struct step step_of(char letter, uint64_t at)
{
    switch (letter) {
    case '+': /* keeps a block */
        return (struct step){.born = {10}};
    case '=': /* replaces the oldest */
        return (struct step){.born = {10}, .freed = {OLDEST}};
    case 'y': /* replaces the youngest */
        return (struct step){.born = {10}, .freed = {YOUNGEST}};
    case 'L': /* keeps a large block */
        return (struct step){.born = {14}};
    case 'l': /* puts a large one in the place of the two oldest */
        return (struct step){.born = {14}, .freed = {OLDEST, OLDEST}};
    case 's': /* puts two in the place of the oldest */
        return (struct step){.born = {7, 7}, .freed = {OLDEST}};
    case 'x': /* puts a large one in the place of the oldest */
        return (struct step){.born = {12}, .freed = {OLDEST}};
    case '^': /* puts one in the place of the oldest, each larger than the one before */
        return (struct step){.born = {10 + at}, .freed = {OLDEST}};
    case '-': /* frees the three oldest */
        return (struct step){.freed = {OLDEST, OLDEST, OLDEST}};
    default: /* nothing */
        return (struct step){.born = {0}};
    }
}

static const struct {
    const char *name, *steps;
    bool is_full;
} rows[] = {
    {"filled late", "++++++++++++++++====", true},
    {"filled early", "++++================", true},
    {"filled with mixed sizes", "++L+L+++L+Lllsls=", true},
    {"new ones are a little larger", "++++++++++++xxxx=x", true},
    {"with pauses", "++++.++++..+++=.=..==", true},
    {"replaced twice", "++++++++++++++++==", false},
    {"three of sixty replaced",
     "++++++++++++++++++++++++++++++"
     "++++++++++++++++++++++++++++++===",
     false},
    {"a leak", "++++++++++++++++++++", false},
    {"a leak that pauses", "++++++++++++++......", false},
    {"a leak beside a rolling window", "++++=+=+=+=+=+=+=+=+", false},
    {"kept, then two buffers in turn", "++++++++++++yyyyyyyy", false},
    {"collapses and rises", "++++++++---++---++---", false},
    {"freed at the end", "++++++++++++++------", false},
    {"larger again and again", "++++^^^^^^^^^^^^^^^^", false},
    {"freed in each step", "+===================", true},
    {"nothing", "....................", false},
};

struct run {
    struct turnover turnover;
    struct turnover_level live;
    uint64_t sizes[BLOCKS_MOST], begins[BLOCKS_MOST]; /* live blocks, the oldest first */
    uint64_t index;
};

static void free_one(struct run *run, uint64_t which)
{
    const uint64_t last = run->live.count - 1, at = which == OLDEST ? 0 : last;
    turnover_free(&run->turnover, &(struct turnover_free){.index = run->index++,
                                                          .begin_index = run->begins[at],
                                                          .size_bytes = run->sizes[at],
                                                          .live = run->live});
    run->live.bytes -= run->sizes[at];
    run->live.count--;
    for (uint64_t i = at; i < last; i++) {
        run->sizes[i] = run->sizes[i + 1];
        run->begins[i] = run->begins[i + 1];
    }
}

static void make_one(struct run *run, uint64_t size_bytes)
{
    turnover_birth(&run->turnover);
    run->sizes[run->live.count] = size_bytes;
    run->begins[run->live.count++] = run->index++;
    run->live.bytes += size_bytes;
}

static struct turnover turnover_of(const char *steps)
{
    struct run run = {0};
    for (uint64_t at = 0; steps[at]; at++) {
        const struct step step = step_of(steps[at], at);
        const struct turnover_level last = run.live;
        for (int i = 0; i < 3 && step.freed[i] && run.live.count; i++)
            free_one(&run, step.freed[i]);
        for (int i = 0; i < 3 && step.born[i]; i++)
            make_one(&run, step.born[i]);
        turnover_end(&run.turnover, at, &run.live, &last);
    }
    return run.turnover;
}

TEST(a_cache_is_full_if_new_blocks_replace_old_ones_and_it_stays_level)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct turnover turnover = turnover_of(rows[i].steps);
        if (turnover_is_full(&turnover) != rows[i].is_full)
            fail_msg("%s: %d", rows[i].name, turnover_is_full(&turnover));
    }
}

TEST(the_level_is_reached_with_the_last_rise_before_a_block_is_replaced)
{
    const struct turnover turnover = turnover_of("++++.++++..+++..=.=..==");
    assert_int_equal(turnover.risen_at, 13);
    assert_int_equal(turnover.level.bytes, 110);
    assert_int_equal(turnover.most.bytes, 110);
}

UNIT_MAIN(NULL, NULL)
