/* SPDX-License-Identifier: MIT */
/* Compares the pair map with a plain array: both must agree after any puts, replacements and
   removals. */
#include "analyzer/util/pair_map.h"
#include "tests/unit/unit_test.h"

enum { KEYS = 512, SPACES = 3, ROUNDS = 200000 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

TEST(an_empty_map_has_nothing)
{
    struct pair_map map = {0};
    assert_int_equal(pair_map_get(&map, 0, 5), PAIR_MAP_NONE);
    assert_int_equal(pair_map_remove(&map, 0, 5), PAIR_MAP_NONE);
    pair_map_release(&map);
}

TEST(equal_second_numbers_with_different_first_ones_are_different)
{
    struct pair_map map = {0};
    assert_int_equal(pair_map_put(&map, 1, 0x1000, 11, NULL), 0);
    assert_int_equal(pair_map_put(&map, 2, 0x1000, 22, NULL), 0);
    assert_int_equal(pair_map_get(&map, 1, 0x1000), 11);
    assert_int_equal(pair_map_remove(&map, 2, 0x1000), 22);
    assert_int_equal(pair_map_get(&map, 2, 0x1000), PAIR_MAP_NONE);
    assert_int_equal(pair_map_get(&map, 1, 0x1000), 11);
    pair_map_release(&map);
}

TEST(a_second_put_replaces_the_first)
{
    struct pair_map map = {0};
    assert_int_equal(pair_map_put(&map, 0, 7, 1, NULL), 0);
    assert_int_equal(pair_map_put(&map, 0, 7, 2, NULL), 0);
    assert_int_equal(pair_map_get(&map, 0, 7), 2);
    assert_int_equal(map.count, 1);
    pair_map_release(&map);
}

TEST(it_agrees_with_an_array_over_many_random_changes)
{
    static uint32_t truth[SPACES][KEYS];
    struct pair_map map = {0};
    uint32_t random = 1;
    size_t count = 0;
    for (int s = 0; s < SPACES; s++)
        for (int k = 0; k < KEYS; k++)
            truth[s][k] = PAIR_MAP_NONE;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t space = next_random(&random) % SPACES, key = next_random(&random) % KEYS;
        uint64_t address = (uint64_t)key << 21; /* only high bits differ, as in segments */

        assert_int_equal(pair_map_get(&map, space, address), truth[space][key]);
        if (next_random(&random) % 2) {
            count += truth[space][key] == PAIR_MAP_NONE;
            truth[space][key] = round;
            assert_int_equal(pair_map_put(&map, space, address, round, NULL), 0);
        } else {
            count -= truth[space][key] != PAIR_MAP_NONE;
            assert_int_equal(pair_map_remove(&map, space, address), truth[space][key]);
            truth[space][key] = PAIR_MAP_NONE;
        }
        assert_int_equal(map.count, count);
    }
    for (uint32_t s = 0; s < SPACES; s++)
        for (uint32_t k = 0; k < KEYS; k++)
            assert_int_equal(pair_map_get(&map, s, (uint64_t)k << 21), truth[s][k]);
    pair_map_release(&map);
}

UNIT_MAIN(NULL, NULL)
