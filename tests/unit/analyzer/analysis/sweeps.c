/* SPDX-License-Identifier: MIT */
/* A call stack that makes a block in each step, and steps in which all of its blocks are freed. */
#include <stdio.h>

#include "analyzer/analysis/steps/sweeps.h"
#include "tests/unit/unit_test.h"

enum { SWEEPS = 8, STEPS_BEFORE = 2 };

static const struct {
    const char *name;
    uint64_t steps, swept[SWEEPS]; /* 0 ends them */
    uint32_t places[SWEEPS];       /* of each sweep; 0: always the same */
    uint64_t count, pace;
    bool is_over, are_anywhere;
} cases[] = {
    {"grows", 30, {0}, {0}, 0, 0, false, false},
    {"freed once", 30, {24}, {0}, 1, 0, false, false},
    {"freed long ago", 30, {5}, {0}, 1, 0, true, false},
    {"freed every two steps", 12, {2, 4, 6, 8, 10}, {0}, 0, 0, false, false},
    {"freed every five", 24, {5, 10, 15, 20}, {0}, 4, 5, false, false},
    {"freed at the end of the run as well", 23, {5, 10, 15, 20, 23}, {0}, 5, 5, false, false},
    {"a step sooner or later", 24, {5, 11, 16, 22}, {0}, 4, 6, false, false},
    {"of different lengths", 30, {5, 15, 29}, {0}, 3, 0, false, false},
    {"long, of different lengths", 900, {200, 420, 610, 830}, {0}, 4, 0, false, false},
    {"at several places", 30, {5, 15, 29}, {7, 4, 9}, 3, 0, false, true},
    {"once at another place", 60, {9, 20, 35, 50}, {7, 7, 7, 4}, 4, 0, false, false},
};

/* One block of a byte is made in each step, which is a moment of its own. */
static struct sweeps run(size_t number)
{
    const uint64_t *swept = cases[number].swept;
    struct sweeps sweeps = {0};
    uint64_t live = 0, live_before = 0, next = 0;
    for (uint64_t step = 1; step <= cases[number].steps; step++) {
        live++;
        if (next < SWEEPS && swept[next] == step)
            for (const uint32_t place = cases[number].places[next++]; live; live--)
                sweeps_free(&sweeps, &(struct swept){step, live, 1, step - live, place});
        if (step >= STEPS_BEFORE)
            sweeps_end(&sweeps, step - STEPS_BEFORE, live < live_before);
        live_before = live;
    }
    return sweeps;
}

TEST(blocks_of_several_steps_that_are_freed_in_one_moment_are_a_sweep)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sweeps sweeps = run(i);
        const uint64_t ends = cases[i].steps - STEPS_BEFORE + 1;
        const uint64_t pace = sweeps_pace(&sweeps, STEPS_BEFORE, ends);
        const bool is_over = sweeps.at.count && sweeps_are_over(&sweeps, ends);
        if (sweeps.at.count != cases[i].count || pace != cases[i].pace ||
            is_over != cases[i].is_over || sweeps_are_anywhere(&sweeps) != cases[i].are_anywhere)
            fail_msg("%s: %d sweeps, pace %d, over %d, anywhere %d", cases[i].name,
                     (int)sweeps.at.count, (int)pace, is_over, sweeps_are_anywhere(&sweeps));
    }
}

TEST(a_sweep_frees_most_of_what_is_live_before_the_next_birth)
{
    struct sweeps sweeps = {0};
    for (uint64_t step = 1; step <= 3; step++) /* three of eight bytes */
        sweeps_free(&sweeps, &(struct swept){1, 9 - step, 1, step, 1});
    sweeps_end(&sweeps, 1, true);
    for (uint64_t step = 4; step <= 8; step++) /* all, but with births between */
        sweeps_free(&sweeps, &(struct swept){step, 9 - step, 1, step, 1});
    sweeps_end(&sweeps, 2, true);
    assert_int_equal(sweeps.at.count, 0);
}

TEST(the_usual_distance_is_that_of_most_beats)
{
    static const uint64_t every_three[] = {0, 3, 6, 12, 15, 18, 21, 25, 28, 31},
                          irregular[] = {0, 2, 5, 9, 14};
    struct occurrences occurrences = {0}, others = {0};
    for (size_t i = 0; i < sizeof every_three / sizeof *every_three; i++)
        occurrences_add(&occurrences, every_three[i]);
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        occurrences_add(&others, irregular[i]);
    assert_int_equal(occurrences_usual(&occurrences), 3);
    assert_int_equal(occurrences_usual(&others), 0);
}

UNIT_MAIN(NULL, NULL)
