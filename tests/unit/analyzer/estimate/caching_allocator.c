/* SPDX-License-Identifier: MIT */
/* The simulated caching allocator: its sizes, its choice, its splits, and that frees join. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

#include "analyzer/estimate/caching_allocator.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)

static uint32_t take(struct caching_allocator *allocator, uint64_t bytes)
{
    struct err err = {0};
    uint32_t handle;
    if (caching_allocator_alloc(allocator, bytes, &handle, &err))
        fail_msg("%s", err.message);
    return handle;
}

static void give(struct caching_allocator *allocator, uint32_t handle)
{
    struct err err = {0};
    if (caching_allocator_free(allocator, handle, &err))
        fail_msg("%s", err.message);
}

static void assert_state(const struct caching_allocator *allocator, uint64_t allocated,
                         uint64_t reserved)
{
    assert_int_equal(allocator->allocated_bytes, allocated);
    assert_int_equal(allocator->reserved_bytes, reserved);
}

static void requests_are_rounded_up_to_512_bytes(void **state)
{
    struct caching_allocator allocator;
    (void)state;
    caching_allocator_init(&allocator);
    take(&allocator, 1);
    assert_state(&allocator, 512, 2 * MIB);
    take(&allocator, 513);
    assert_state(&allocator, 1536, 2 * MIB);
    take(&allocator, 311108); /* 311,296, as PyTorch reports it */
    assert_state(&allocator, 1536 + 311296, 2 * MIB);
    caching_allocator_release(&allocator);
}

static void segments_have_2_mib_20_mib_or_the_rounded_size(void **state)
{
    struct caching_allocator allocator;
    (void)state;
    caching_allocator_init(&allocator);
    take(&allocator, MIB);
    assert_state(&allocator, MIB, 2 * MIB);
    take(&allocator, MIB + 1);
    assert_state(&allocator, 2 * MIB + 512, 22 * MIB);
    take(&allocator, 10 * MIB);
    assert_int_equal(allocator.reserved_bytes, 22 * MIB); /* fits into the rest of the 20 MiB */
    take(&allocator, 10 * MIB);
    assert_int_equal(allocator.reserved_bytes, 32 * MIB);
    take(&allocator, 33 * MIB);
    assert_int_equal(allocator.reserved_bytes, 66 * MIB);
    caching_allocator_release(&allocator);
}

static void a_small_rest_of_a_large_block_counts_as_allocated(void **state)
{
    struct caching_allocator allocator;
    (void)state;
    caching_allocator_init(&allocator);
    take(&allocator, 33 * MIB); /* segment of 34 MiB; a rest of exactly 1 MiB is not split off */
    assert_state(&allocator, 34 * MIB, 34 * MIB);
    take(&allocator, 33 * MIB - 512);
    assert_state(&allocator, 34 * MIB + 33 * MIB - 512, 68 * MIB);
    caching_allocator_release(&allocator);
}

static void small_and_large_requests_never_share_a_segment(void **state)
{
    struct caching_allocator allocator;
    (void)state;
    caching_allocator_init(&allocator);
    take(&allocator, 2 * MIB);
    assert_int_equal(allocator.reserved_bytes, 20 * MIB);
    take(&allocator, 512);
    assert_int_equal(allocator.reserved_bytes, 22 * MIB);
    caching_allocator_release(&allocator);
}

static void the_smallest_block_that_fits_is_chosen(void **state)
{
    struct caching_allocator allocator;
    (void)state;
    caching_allocator_init(&allocator);
    uint32_t wide = take(&allocator, 40 * MIB), narrow = take(&allocator, 12 * MIB);
    give(&allocator, wide);
    give(&allocator, narrow);
    take(&allocator, 11 * MIB); /* takes the 12 MiB whole: a rest of 1 MiB is not split */
    assert_state(&allocator, 12 * MIB, 52 * MIB);
    take(&allocator, 40 * MIB); /* still in one piece */
    assert_state(&allocator, 52 * MIB, 52 * MIB);
    caching_allocator_release(&allocator);
}

static void freed_neighbours_join_in_any_order(void **state)
{
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct caching_allocator allocator;
        uint32_t handles[3];
        caching_allocator_init(&allocator);
        for (int j = 0; j < 3; j++)
            handles[j] = take(&allocator, 6 * MIB);
        for (int j = 0; j < 3; j++)
            give(&allocator, handles[orders[i][j]]);
        assert_state(&allocator, 0, 20 * MIB);
        assert_int_equal(allocator.free_count, 1);
        take(&allocator, 20 * MIB);
        assert_state(&allocator, 20 * MIB, 20 * MIB);
        caching_allocator_release(&allocator);
    }
}

static void segments_stay_when_everything_is_freed(void **state)
{
    struct caching_allocator allocator;
    (void)state;
    caching_allocator_init(&allocator);
    give(&allocator, take(&allocator, 100 * MIB));
    give(&allocator, take(&allocator, 50 * MIB));
    assert_state(&allocator, 0, 100 * MIB);
    assert_int_equal(allocator.peak_allocated_bytes, 100 * MIB);
    caching_allocator_release(&allocator);
}

/* Whatever the order, once all is freed each segment is one block again. */
static void random_use_always_adds_up(void **state)
{
    enum { LIVE = 64, ROUNDS = 20000 };
    struct caching_allocator allocator;
    uint32_t handles[LIVE];
    uint64_t random = 88172645463325252;
    bool live[LIVE] = {false};
    size_t segments = 0;
    (void)state;
    caching_allocator_init(&allocator);
    for (int round = 0; round < ROUNDS; round++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        int slot = (int)(random % LIVE);
        uint64_t reserved_before = allocator.reserved_bytes;
        if (live[slot])
            give(&allocator, handles[slot]);
        else
            handles[slot] = take(&allocator, 1 + (random >> 8) % (24 * MIB));
        live[slot] = !live[slot];
        segments += allocator.reserved_bytes > reserved_before;
    }
    for (int slot = 0; slot < LIVE; slot++)
        if (live[slot])
            give(&allocator, handles[slot]);
    assert_int_equal(allocator.allocated_bytes, 0);
    assert_int_equal(allocator.free_count, segments);
    assert_int_equal(allocator.reserved_bytes, allocator.address);
    caching_allocator_release(&allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_rounded_up_to_512_bytes),
        cmocka_unit_test(segments_have_2_mib_20_mib_or_the_rounded_size),
        cmocka_unit_test(a_small_rest_of_a_large_block_counts_as_allocated),
        cmocka_unit_test(small_and_large_requests_never_share_a_segment),
        cmocka_unit_test(the_smallest_block_that_fits_is_chosen),
        cmocka_unit_test(freed_neighbours_join_in_any_order),
        cmocka_unit_test(segments_stay_when_everything_is_freed),
        cmocka_unit_test(random_use_always_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
