/* SPDX-License-Identifier: MIT */
/* Compares the range map with a plain array of slots. Each slot holds one range or none. */
#include "analyzer/util/range_map.h"
#include "tests/unit/unit_test.h"

enum { SLOTS = 256, SLOT_BYTES = 100, ROUNDS = 20000 };

TEST(an_empty_map_has_no_range)
{
    struct range_map map;
    range_map_init(&map);
    assert_null(range_map_at_or_after(&map, 0));
    range_map_remove(&map, 5);
    range_map_release(&map);
}

TEST(a_range_holds_its_first_byte_but_not_the_one_behind_its_last)
{
    struct range_map map;
    uint32_t replaced;
    range_map_init(&map);
    assert_int_equal(range_map_insert(&map, 100, 10, 7, &replaced, NULL), 0);
    assert_int_equal(range_map_at_or_after(&map, 100)->value, 7);
    assert_int_equal(range_map_at_or_after(&map, 109)->value, 7);
    assert_null(range_map_at_or_after(&map, 110));
    assert_int_equal(range_map_at_or_after(&map, 0)->value, 7);
    range_map_release(&map);
}

TEST(a_range_at_the_same_start_is_replaced)
{
    struct range_map map;
    uint32_t replaced;
    range_map_init(&map);
    assert_int_equal(range_map_insert(&map, 100, 10, 1, &replaced, NULL), 0);
    assert_int_equal(replaced, RANGE_NONE);
    assert_int_equal(range_map_insert(&map, 100, 20, 2, &replaced, NULL), 0);
    assert_int_equal(replaced, 1);
    assert_int_equal(range_map_at_or_after(&map, 115)->value, 2);
    range_map_remove(&map, 100);
    assert_null(range_map_at_or_after(&map, 0));
    range_map_release(&map);
}

/* Slot i may hold a range of sizes[i] bytes from i * SLOT_BYTES on. */
static void check_everywhere(const struct range_map *map, const unsigned *sizes)
{
    for (uint64_t address = 0; address < (uint64_t)SLOTS * SLOT_BYTES; address += 37) {
        const struct range_node *found = range_map_at_or_after(map, address);
        uint64_t slot = address / SLOT_BYTES;

        if (sizes[slot] <= address % SLOT_BYTES)
            slot++;
        while (slot < SLOTS && !sizes[slot])
            slot++;
        if (slot == SLOTS) {
            assert_null(found);
            continue;
        }
        assert_non_null(found);
        assert_int_equal(found->start, slot * SLOT_BYTES);
        assert_int_equal(found->size_bytes, sizes[slot]);
        assert_int_equal(found->value, slot);
    }
}

TEST(it_agrees_with_an_array_over_many_random_changes)
{
    unsigned sizes[SLOTS] = {0};
    struct range_map map;
    uint32_t random = 1, replaced;
    range_map_init(&map);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t slot;

        random = random * 1664525u + 1013904223u;
        slot = (random >> 8) % SLOTS;
        const uint32_t before = sizes[slot] ? slot : RANGE_NONE;
        sizes[slot] = (random >> 20) % 3 ? (random >> 16) % SLOT_BYTES + 1 : 0;
        if (sizes[slot])
            assert_int_equal(range_map_insert(&map, (uint64_t)slot * SLOT_BYTES, sizes[slot], slot,
                                              &replaced, NULL),
                             0);
        else
            replaced = range_map_remove(&map, (uint64_t)slot * SLOT_BYTES);
        assert_int_equal(replaced, before);
        if (round % 500 == 0)
            check_everywhere(&map, sizes);
    }
    check_everywhere(&map, sizes);
    assert_true(map.used <= SLOTS); /* removed nodes are used again */
    range_map_release(&map);
}

UNIT_MAIN(NULL, NULL)
