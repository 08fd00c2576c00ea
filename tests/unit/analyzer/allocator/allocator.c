/* SPDX-License-Identifier: MIT */
/* The model of the caching allocator: sizes, choice of blocks, splits, merges, and its settings. */
#include <stdbool.h>

#include "analyzer/allocator/allocator.h"
#include "tests/unit/unit_test.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)

static void init(struct allocator *allocator)
{
    const struct allocator_settings settings = allocator_default_settings();
    allocator_init(allocator, &settings);
}

static uint32_t take(struct allocator *allocator, uint64_t bytes)
{
    struct err err = {0};
    enum allocator_outcome outcome;
    uint32_t handle;
    const struct allocator_request request = {.bytes = bytes, .owner = ALLOCATOR_OF_ALL};
    if (allocator_alloc(allocator, &request, &handle, &outcome, &err))
        fail_msg("%s", err.message);
    return handle;
}

static void give(struct allocator *allocator, uint32_t handle)
{
    struct err err = {0};
    if (allocator_free(allocator, handle, &err))
        fail_msg("%s", err.message);
}

static void assert_state(const struct allocator *allocator, uint64_t allocated, uint64_t reserved)
{
    assert_int_equal(allocator->allocated_bytes, allocated);
    assert_int_equal(allocator->reserved_bytes, reserved);
}

TEST(requests_are_rounded_up_to_512_bytes)
{
    struct allocator allocator;
    init(&allocator);
    take(&allocator, 1);
    assert_state(&allocator, 512, 2 * MIB);
    take(&allocator, 513);
    assert_state(&allocator, 1536, 2 * MIB);
    take(&allocator, 311108); /* rounded to 311,296 bytes, as PyTorch reports */
    assert_state(&allocator, 1536 + 311296, 2 * MIB);
    allocator_release(&allocator);
}

TEST(segments_have_2_mib_20_mib_or_the_rounded_size)
{
    struct allocator allocator;
    init(&allocator);
    take(&allocator, MIB);
    assert_state(&allocator, MIB, 2 * MIB);
    take(&allocator, MIB + 1);
    assert_state(&allocator, 2 * MIB + 512, 22 * MIB);
    take(&allocator, 10 * MIB);
    assert_int_equal(allocator.reserved_bytes, 22 * MIB); /* fits into what is left of 20 */
    take(&allocator, 10 * MIB);
    assert_int_equal(allocator.reserved_bytes, 32 * MIB);
    take(&allocator, 33 * MIB);
    assert_int_equal(allocator.reserved_bytes, 66 * MIB);
    allocator_release(&allocator);
}

TEST(a_small_rest_of_a_large_block_counts_as_allocated)
{
    struct allocator allocator;
    init(&allocator);
    take(&allocator, 33 * MIB); /* from a segment of 34; exactly 1 MiB is not split off */
    assert_state(&allocator, 34 * MIB, 34 * MIB);
    take(&allocator, 33 * MIB - 512);
    assert_state(&allocator, 34 * MIB + 33 * MIB - 512, 68 * MIB);
    allocator_release(&allocator);
}

TEST(small_and_large_requests_never_share_a_segment)
{
    struct allocator allocator;
    init(&allocator);
    take(&allocator, 2 * MIB);
    assert_int_equal(allocator.reserved_bytes, 20 * MIB);
    take(&allocator, 512);
    assert_int_equal(allocator.reserved_bytes, 22 * MIB);
    allocator_release(&allocator);
}

TEST(the_smallest_block_that_fits_is_chosen)
{
    struct allocator allocator;
    init(&allocator);
    uint32_t wide = take(&allocator, 40 * MIB), narrow = take(&allocator, 12 * MIB);
    give(&allocator, wide);
    give(&allocator, narrow);
    take(&allocator, 11 * MIB); /* takes the whole 12 MiB: a remainder of 1 MiB is not split off */
    assert_state(&allocator, 12 * MIB, 52 * MIB);
    take(&allocator, 40 * MIB); /* still in one piece */
    assert_state(&allocator, 52 * MIB, 52 * MIB);
    allocator_release(&allocator);
}

TEST(freed_neighbours_join_in_any_order)
{
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct allocator allocator;
        uint32_t handles[3];
        init(&allocator);
        for (int j = 0; j < 3; j++)
            handles[j] = take(&allocator, 6 * MIB);
        for (int j = 0; j < 3; j++)
            give(&allocator, handles[orders[i][j]]);
        assert_state(&allocator, 0, 20 * MIB);
        assert_int_equal(allocator_holes(&allocator).largest_bytes, 20 * MIB);
        take(&allocator, 20 * MIB);
        assert_state(&allocator, 20 * MIB, 20 * MIB);
        allocator_release(&allocator);
    }
}

TEST(segments_stay_when_everything_is_freed)
{
    struct allocator allocator;
    init(&allocator);
    give(&allocator, take(&allocator, 100 * MIB));
    give(&allocator, take(&allocator, 50 * MIB));
    assert_state(&allocator, 0, 100 * MIB);
    assert_int_equal(allocator.peak_allocated_bytes, 100 * MIB);
    allocator_release(&allocator);
}

/* When all blocks are freed, in any order, each segment is one block again. */
TEST(random_use_always_adds_up)
{
    enum { LIVE = 64, ROUNDS = 20000 };
    struct allocator allocator;
    uint32_t handles[LIVE];
    uint64_t random = 88172645463325252;
    bool live[LIVE] = {false};
    init(&allocator);
    for (int round = 0; round < ROUNDS; round++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        int slot = (int)(random % LIVE);
        if (live[slot])
            give(&allocator, handles[slot]);
        else
            handles[slot] = take(&allocator, 1 + (random >> 8) % (24 * MIB));
        live[slot] = !live[slot];
    }
    for (int slot = 0; slot < LIVE; slot++)
        if (live[slot])
            give(&allocator, handles[slot]);
    assert_int_equal(allocator.allocated_bytes, 0);
    assert_int_equal(allocator_holes(&allocator).free_bytes, allocator.reserved_bytes);
    assert_int_equal(allocator_holes(&allocator).stranded_bytes, 0);
    if (allocator_empty_cache(&allocator, &(struct err){0}))
        fail();
    assert_int_equal(allocator.reserved_bytes, 0);
    allocator_release(&allocator);
}

/* --- settings --- */

static uint32_t ask(struct allocator *allocator, uint64_t bytes, uint64_t stream,
                    enum allocator_outcome wanted)
{
    enum allocator_outcome outcome;
    struct err err = {0};
    uint32_t handle;
    const struct allocator_request request = {
        .bytes = bytes, .stream = stream, .owner = ALLOCATOR_OF_ALL};
    if (allocator_alloc(allocator, &request, &handle, &outcome, &err))
        fail_msg("%s", err.message);
    assert_int_equal(outcome, wanted);
    return handle;
}

TEST(streams_do_not_share_free_memory)
{
    struct allocator allocator;
    init(&allocator);
    give(&allocator, ask(&allocator, 40 * MIB, 1, ALLOCATOR_GREW));
    ask(&allocator, 40 * MIB, 2, ALLOCATOR_GREW);
    ask(&allocator, 40 * MIB, 1, ALLOCATOR_REUSED);
    assert_int_equal(allocator.reserved_bytes, 80 * MIB);
    allocator_release(&allocator);
}

TEST(what_is_cached_goes_back_before_a_request_is_refused)
{
    struct allocator allocator;
    init(&allocator);
    allocator.room_bytes = 100 * MIB;
    give(&allocator, ask(&allocator, 60 * MIB, 0, ALLOCATOR_GREW));
    ask(&allocator, 80 * MIB, 0, ALLOCATOR_RETRIED);
    assert_state(&allocator, 80 * MIB, 80 * MIB);
    assert_int_equal(ask(&allocator, 22 * MIB, 0, ALLOCATOR_REFUSED), ALLOCATOR_NONE);
    ask(&allocator, 20 * MIB, 0, ALLOCATOR_GREW);
    assert_int_equal(allocator.retry_count, 1);
    assert_int_equal(allocator.peak_reserved_bytes, 100 * MIB);
    allocator_release(&allocator);
}

TEST(an_expandable_segment_grows_by_what_is_missing)
{
    struct allocator_settings settings = allocator_default_settings();
    struct allocator allocator;
    settings.expandable_segments = true;
    allocator_init(&allocator, &settings);
    uint32_t first = take(&allocator, 30 * MIB); /* takes two mappings of 20 MiB */
    assert_state(&allocator, 30 * MIB, 40 * MIB);
    take(&allocator, 15 * MIB); /* 10 MiB are left, so one more mapping is added */
    assert_state(&allocator, 45 * MIB, 60 * MIB);
    give(&allocator, first);
    if (allocator_empty_cache(&allocator, &(struct err){0})) /* the first mapping is wholly free */
        fail();
    assert_state(&allocator, 15 * MIB, 20 * MIB * 2);
    take(&allocator, 25 * MIB); /* neither the free 10 nor the free 15 suffice */
    assert_state(&allocator, 40 * MIB, 60 * MIB);
    allocator_release(&allocator);
}

TEST(a_block_above_max_split_is_neither_cut_nor_wasted)
{
    struct allocator_settings settings = allocator_default_settings();
    struct allocator allocator;
    settings.max_split_bytes = 64 * MIB;
    allocator_init(&allocator, &settings);
    give(&allocator, take(&allocator, 100 * MIB));
    take(&allocator, 30 * MIB); /* less than 64 MiB: must not split the 100 */
    assert_state(&allocator, 30 * MIB, 130 * MIB);
    take(&allocator, 70 * MIB); /* above 64, but 30 would be left over: more than 20 */
    assert_state(&allocator, 100 * MIB, 200 * MIB);
    take(&allocator, 90 * MIB); /* takes the whole 100 MiB */
    assert_state(&allocator, 200 * MIB, 200 * MIB);
    allocator_release(&allocator);
}

TEST(garbage_is_collected_only_under_a_memory_fraction)
{
    struct allocator_settings settings = allocator_default_settings();
    settings.garbage_threshold = 0.5;
    for (int limited = 0; limited < 2; limited++) {
        struct allocator allocator;
        settings.fraction_bytes = limited ? 200 * MIB : ALLOCATOR_UNLIMITED;
        allocator_init(&allocator, &settings);
        give(&allocator, take(&allocator, 60 * MIB));
        take(&allocator, 80 * MIB); /* 140 MiB are reserved, more than half of 200 */
        take(&allocator, 82 * MIB); /* first frees the cached 60 MiB */
        assert_int_equal(allocator.reserved_bytes, limited ? 162 * MIB : 222 * MIB);
        assert_int_equal(allocator.retry_count, 0);
        allocator_release(&allocator);
    }
}

/* If several free blocks have the same size, the allocator takes the one with the lowest
   address. Here that block is in the newest segment, because this segment reuses an address that
   was given back to the driver. */
TEST(addresses_that_went_back_are_handed_out_again)
{
    struct allocator allocator;
    struct err err = {0};
    init(&allocator);
    const uint32_t first = take(&allocator, 40 * MIB), second = take(&allocator, 30 * MIB);
    const uint64_t lowest = allocator.blocks[first].address;
    give(&allocator, first);
    assert_int_equal(allocator_empty_cache(&allocator, &err), 0);
    const uint32_t third = take(&allocator, 30 * MIB);
    assert_int_equal(allocator.blocks[third].address, lowest);
    give(&allocator, second);
    give(&allocator, third);
    assert_int_equal(allocator.blocks[take(&allocator, 30 * MIB)].address, lowest);
    allocator_release(&allocator);
}

TEST(without_caching_each_free_goes_back)
{
    struct allocator_settings settings = allocator_default_settings();
    struct allocator allocator;
    settings.no_caching = true;
    allocator_init(&allocator, &settings);
    uint32_t first = take(&allocator, 700);
    take(&allocator, 30 * MIB);
    assert_state(&allocator, 1024 + 30 * MIB, 1024 + 30 * MIB);
    give(&allocator, first);
    assert_state(&allocator, 30 * MIB, 30 * MIB);
    allocator_release(&allocator);
}

UNIT_MAIN(NULL, NULL)
