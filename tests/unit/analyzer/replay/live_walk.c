/* SPDX-License-Identifier: MIT */
/*
 * Live blocks at a moment: what a walk finds is what looking at every block finds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/live_walk.h"

#define CHANGES 60000

static struct block blocks[CHANGES];
static struct change changes[CHANGES];
static uint32_t live[CHANGES];

/* Random births and deaths, one an event; every tenth event changes nothing. */
static struct history make_history(unsigned births_percent)
{
    struct history history = {.blocks = blocks, .changes = changes};
    size_t live_count = 0;
    uint32_t random = 12345;

    memset(blocks, 0, sizeof blocks);
    for (uint32_t event = 0; history.change_count < CHANGES; event++) {
        random = random * 1664525 + 1013904223;
        if (event % 10 == 0)
            continue;
        if (live_count == 0 || random >> 16 < 65536 / 100 * births_percent) {
            uint32_t number = (uint32_t)history.block_count++;

            blocks[number].alloc_index = event;
            blocks[number].free_index = HISTORY_NONE;
            live[live_count++] = number;
            changes[history.change_count++] =
                (struct change){.event = event, .block = number, .birth = true};
        } else {
            size_t place = (random >> 8) % live_count;

            blocks[live[place]].free_index = event;
            changes[history.change_count++] = (struct change){.event = event, .block = live[place]};
            live[place] = live[--live_count];
        }
    }
    history.event_count = changes[CHANGES - 1].event + 1;
    return history;
}

static void expect_same_at(const struct history *history, uint32_t index)
{
    static uint8_t found[CHANGES];
    struct live_walk walk = live_walk_begin(history, index);
    const struct block *block;

    memset(found, 0, sizeof found);
    while ((block = live_walk_next(&walk)))
        assert_int_equal(found[block - blocks]++, 0);
    for (size_t i = 0; i < history->block_count; i++)
        assert_int_equal(found[i], block_is_live(&blocks[i], index));
}

static void expect_same_everywhere(unsigned births_percent)
{
    struct history history = make_history(births_percent);
    struct err err = {0};

    assert_int_equal(live_lists_build(&history, &err), 0);
    assert_true(history.live_list_count > 1);
    assert_true(history.live_listed_count <= history.change_count);
    for (uint32_t index = 0; index < history.event_count; index += 97)
        expect_same_at(&history, index);
    expect_same_at(&history, history.event_count - 1);
    expect_same_at(&history, HISTORY_NONE - 1);
    free(history.live_lists);
    free(history.live_listed);
}

static void a_walk_finds_what_is_live_when_few_blocks_are(void **state)
{
    (void)state;
    expect_same_everywhere(51);
}

static void a_walk_finds_what_is_live_when_most_blocks_are(void **state)
{
    (void)state;
    expect_same_everywhere(95);
}

static void a_history_without_changes_has_nothing_live(void **state)
{
    struct history history = {0};
    struct err err = {0};
    struct live_walk walk;

    (void)state;
    assert_int_equal(live_lists_build(&history, &err), 0);
    walk = live_walk_begin(&history, 0);
    assert_null(live_walk_next(&walk));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_finds_what_is_live_when_few_blocks_are),
        cmocka_unit_test(a_walk_finds_what_is_live_when_most_blocks_are),
        cmocka_unit_test(a_history_without_changes_has_nothing_live),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
