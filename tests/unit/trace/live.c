/* SPDX-License-Identifier: MIT */
/*
 * Tests the count of live memory: the rules for objects that outlive their handle, for contexts and
 * for graph pools.
 */
#include "gpumemtrace/event.h"
#include "trace/live.h"
#include "tests/unit/unit_test.h"

#define MIB ((uint64_t)1 << 20)

static struct live live;

static int fresh(void **state)
{
    (void)state;
    live_release(&live);
    return 0;
}

static void on(enum event_kind kind, enum memory_kind memory, uint64_t address, uint64_t size_bytes,
               uint64_t object)
{
    const struct live_event event = {.address = address,
                                     .size_bytes = size_bytes,
                                     .object = object,
                                     .kind = (uint8_t)kind,
                                     .memory = (uint8_t)memory};
    live_count(&live, &event);
}

TEST_WITH(an_object_lives_until_its_handle_is_released_and_its_mapping_gone, fresh, fresh)
{
    on(EVENT_ALLOC, MEMORY_VMM, 7, 2 * MIB, 0);
    on(EVENT_MAP, MEMORY_VMM, 0x700000, 2 * MIB, 7);
    on(EVENT_FREE, MEMORY_VMM, 7, 0, 0);
    assert_int_equal(live.live_bytes[0], 2 * MIB);
    on(EVENT_UNMAP, MEMORY_VMM, 0x700000, 2 * MIB, 0);
    assert_int_equal(live.live_bytes[0], 0);
}

TEST_WITH(one_unmap_ends_all_mappings_of_its_range, fresh, fresh)
{
    for (uint64_t i = 0; i < 3; i++) {
        on(EVENT_ALLOC, MEMORY_VMM, 7 + i, 2 * MIB, 0);
        on(EVENT_MAP, MEMORY_VMM, 0x40000000 + i * 2 * MIB, 2 * MIB, 7 + i);
        on(EVENT_FREE, MEMORY_VMM, 7 + i, 0, 0);
    }
    on(EVENT_UNMAP, MEMORY_VMM, 0x40000000, 4 * MIB, 0);
    assert_int_equal(live.live_bytes[0], 2 * MIB);
    assert_int_equal(live.peak_bytes[0], 6 * MIB);
}

TEST_WITH(a_pools_piece_is_part_of_the_block_it_lies_in, fresh, fresh)
{
    on(EVENT_ALLOC, MEMORY_LINEAR, 0x700000, 2 * MIB, 0);
    on(EVENT_ALLOC, MEMORY_TENSOR, 0x700000, MIB, 1);
    on(EVENT_FREE, MEMORY_TENSOR, 0x700000, 0, 1);
    assert_int_equal(live.live_bytes[0], 2 * MIB);
    assert_int_equal(live.peak_bytes[0], 2 * MIB);
}

TEST_WITH(a_retained_object_needs_one_more_release, fresh, fresh)
{
    on(EVENT_ALLOC, MEMORY_VMM, 7, MIB, 0);
    on(EVENT_RETAIN, MEMORY_VMM, 0x1000, 0, 7);
    on(EVENT_FREE, MEMORY_VMM, 7, 0, 0);
    assert_int_equal(live.live_bytes[0], MIB);
    on(EVENT_FREE, MEMORY_VMM, 7, 0, 0);
    assert_int_equal(live.live_bytes[0], 0);
}

TEST_WITH(a_context_takes_its_plain_memory_and_not_that_of_pools_or_others, fresh, fresh)
{
    on(EVENT_ALLOC, MEMORY_LINEAR, 0x1000, 10, 0xc1);
    on(EVENT_ALLOC, MEMORY_ARRAY, 0x2000, 20, 0xc1);
    on(EVENT_ALLOC, MEMORY_LINEAR, 0x3000, 40, 0xc2);
    on(EVENT_ALLOC, MEMORY_ASYNC, 0x4000, 80, 0xc1);
    on(EVENT_CONTEXT_DESTROY, MEMORY_NONE, 0, 0, 0xc1);
    assert_int_equal(live.live_bytes[0], 120);
    on(EVENT_CONTEXT_DESTROY, MEMORY_NONE, 0, 0, 0);
    assert_int_equal(live.live_bytes[0], 80);
}

TEST_WITH(a_graph_pool_holds_what_graphs_used_at_the_last_report, fresh, fresh)
{
    on(EVENT_POOL_USAGE, MEMORY_GRAPH, 3 * MIB, 4 * MIB, 0);
    on(EVENT_POOL_USAGE, MEMORY_GRAPH, 5 * MIB, 6 * MIB, 0);
    on(EVENT_POOL_USAGE, MEMORY_ASYNC, 5 * MIB, 64 * MIB, 0xb001);
    assert_int_equal(live.live_bytes[0], 5 * MIB);
    on(EVENT_POOL_USAGE, MEMORY_GRAPH, 0, 6 * MIB, 0);
    assert_int_equal(live.live_bytes[0], 0);
    assert_int_equal(live.peak_bytes[0], 5 * MIB);
}

TEST_WITH(address_space_and_other_accounts_hold_no_device_memory, fresh, fresh)
{
    on(EVENT_ALLOC, MEMORY_RESERVATION, 0x1000, MIB, 0);
    on(EVENT_ALLOC, MEMORY_PINNED, 0x2000, MIB, 0);
    on(EVENT_ALLOC, MEMORY_IMPORTED, 0x3000, MIB, 0);
    assert_int_equal(live.peak_bytes[0], 0);
}

TEST_WITH(memory_of_an_unknown_device_is_counted_apart, fresh, fresh)
{
    const struct live_event born = {.address = 0x1000,
                                    .size_bytes = MIB,
                                    .kind = EVENT_ALLOC,
                                    .memory = MEMORY_LINEAR,
                                    .device = -1};
    live_count(&live, &born);
    assert_int_equal(live.peak_bytes[0], 0);
    assert_int_equal(live.peak_bytes[LIVE_UNKNOWN_DEVICE], MIB);
}

TEST_WITH(nothing_counts_after_the_exit_and_an_exec_is_none, fresh, fresh)
{
    on(EVENT_EXIT, MEMORY_NONE, 0, 0, EXIT_BY_EXEC);
    on(EVENT_ALLOC, MEMORY_LINEAR, 0x1000, MIB, 0);
    on(EVENT_EXIT, MEMORY_NONE, 0, 0, EXIT_BY_EXIT);
    on(EVENT_ALLOC, MEMORY_LINEAR, 0x2000, MIB, 0);
    assert_int_equal(live.peak_bytes[0], MIB);
}

TEST_WITH(an_exit_that_is_undone_did_not_happen, fresh, fresh)
{
    on(EVENT_ALLOC, MEMORY_LINEAR, 0x1000, 4 * MIB, 0);
    on(EVENT_EXIT, MEMORY_NONE, 0, 0, EXIT_BY_INTERPRETER);
    on(EVENT_FREE, MEMORY_LINEAR, 0x1000, 0, 0);
    on(EVENT_ALLOC, MEMORY_LINEAR, 0x2000, 3 * MIB, 0);
    on(EVENT_EXIT_UNDONE, MEMORY_NONE, 0, 0, 0);
    on(EVENT_ALLOC, MEMORY_LINEAR, 0x3000, 2 * MIB, 0);
    assert_int_equal(live.peak_bytes[0], 5 * MIB);
}

TEST_WITH(a_pools_pieces_are_counted_beside_the_memory_they_lie_in, fresh, fresh)
{
    const size_t first = live_account_of_pool(0, 0), second = live_account_of_pool(1, 0);
    on(EVENT_ALLOC, MEMORY_LINEAR, 0x700000, 20 * MIB, 0);
    on(EVENT_ALLOC, MEMORY_TENSOR, 0x700000, 4 * MIB, 17);
    on(EVENT_ALLOC, MEMORY_TENSOR, 0x700000, 2 * MIB, 18); /* the same address, in another pool */
    on(EVENT_FREE, MEMORY_TENSOR, 0x700000, 0, 17);
    on(EVENT_ALLOC, MEMORY_TENSOR, 0x900000, 3 * MIB, 17);
    assert_int_equal(live.peak_bytes[first], 4 * MIB);
    assert_int_equal(live.live_bytes[first], 3 * MIB);
    assert_int_equal(live.peak_bytes[second], 2 * MIB);
    assert_int_equal(live.peak_bytes[0], 20 * MIB);
    assert_false(live.is_doubtful);
}

TEST_WITH(pieces_of_more_pools_than_there_is_room_for_are_doubtful, fresh, fresh)
{
    for (uint64_t pool = 1; pool <= LIVE_POOLS; pool++)
        on(EVENT_ALLOC, MEMORY_TENSOR, 0x700000, MIB, pool);
    assert_false(live.is_doubtful);
    on(EVENT_ALLOC, MEMORY_TENSOR, 0x700000, MIB, LIVE_POOLS + 1);
    assert_true(live.is_doubtful);
}

/* The test makes a new count for each event, because is_doubtful is never cleared. */
TEST_WITH(what_a_replay_may_follow_otherwise_is_doubtful, fresh, fresh)
{
    const struct {
        enum event_kind kind;
        enum memory_kind memory;
    } beyond[] = {{EVENT_BIND, MEMORY_VMM},
                  {EVENT_RETAIN, MEMORY_VMM},
                  {EVENT_CONTEXT_DESTROY, MEMORY_NONE},
                  {EVENT_EXIT_UNDONE, MEMORY_NONE},
                  {EVENT_POOL_CREATE, MEMORY_ASYNC_HOST}};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        fresh(state);
        on(EVENT_POOL_CREATE, MEMORY_ASYNC, 0, 0, 7);
        assert_false(live.is_doubtful);
        on(beyond[i].kind, beyond[i].memory, 0x1000, 0, 7);
        assert_true(live.is_doubtful);
    }
}

TEST_WITH(a_handle_that_is_given_out_again_while_it_is_mapped_is_doubtful, fresh, fresh)
{
    on(EVENT_ALLOC, MEMORY_VMM, 7, 2 * MIB, 0);
    on(EVENT_MAP, MEMORY_VMM, 0x700000, 2 * MIB, 7);
    on(EVENT_FREE, MEMORY_VMM, 7, 0, 0);
    assert_false(live.is_doubtful);
    on(EVENT_ALLOC, MEMORY_VMM, 7, 2 * MIB, 0);
    assert_true(live.is_doubtful);
}

TEST_WITH(an_unmap_of_what_was_not_seen_mapped_is_doubtful, fresh, fresh)
{
    on(EVENT_ALLOC, MEMORY_VMM, 7, 2 * MIB, 0);
    on(EVENT_MAP, MEMORY_VMM, 0x40000000, 2 * MIB, 7);
    on(EVENT_UNMAP, MEMORY_VMM, 0x40000000, 2 * MIB, 0);
    assert_false(live.is_doubtful);
    on(EVENT_UNMAP, MEMORY_VMM, 0x50000000, 2 * MIB, 0);
    assert_true(live.is_doubtful);
}

UNIT_MAIN(NULL, NULL)
