/* SPDX-License-Identifier: MIT */
/*
 * Tests the sums in the line that is printed at exit: the order of events, the reuse of addresses,
 * and hooked calls that have not returned.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/tally.h"
#include "tests/unit/unit_test.h"

static struct ring_slot slots[64];
static struct batch_event events[64];

static struct batch_event event(int at, enum event_kind kind, uint64_t seq, uint64_t address,
                                uint64_t size_bytes)
{
    slots[at] = (struct ring_slot){.seq = seq, .address = address, .size_bytes = size_bytes};
    slots[at].kind = (uint8_t)kind;
    slots[at].memory = MEMORY_LINEAR;
    return events[at] = (struct batch_event){&slots[at], 1};
}

TEST(the_peak_is_that_of_the_numbers_not_of_the_batches)
{
    struct tally tally = {0};
    /* Event 2 arrives a batch later than event 3, as if another thread had recorded it. */
    event(0, EVENT_ALLOC, 1, 0x1000, 100);
    event(1, EVENT_ALLOC, 3, 0x2000, 100);
    tally_add(&tally, events, 2);
    assert_int_equal(tally.live.peak_bytes[0], 100);
    event(2, EVENT_FREE, 2, 0x1000, 0);
    tally_add(&tally, &events[2], 1);
    tally_finish(&tally);
    assert_int_equal(tally.live.peak_bytes[0], 100);
    assert_int_equal(tally.live.live_bytes[0], 100);
    tally_release(&tally);
}

TEST(an_address_used_again_counts_with_its_new_size)
{
    struct tally tally = {0};
    event(0, EVENT_ALLOC, 1, 0x1000, 100);
    event(1, EVENT_FREE, 2, 0x1000, 0);
    event(2, EVENT_ALLOC, 3, 0x1000, 70);
    tally_add(&tally, events, 3);
    tally_finish(&tally);
    assert_int_equal(tally.live.live_bytes[0], 70);
    assert_int_equal(tally.live.peak_bytes[0], 100);
    tally_release(&tally);
}

TEST(a_free_that_failed_leaves_the_block_live)
{
    struct tally tally = {0};
    event(0, EVENT_ALLOC, 1, 0x1000, 100);
    event(1, EVENT_FREE, 2, 0x1000, 0);
    slots[1].result = 1;
    tally_add(&tally, events, 2);
    tally_finish(&tally);
    assert_int_equal(tally.live.live_bytes[0], 100);
    tally_release(&tally);
}

TEST(host_memory_and_failed_allocations_are_no_device_memory)
{
    struct tally tally = {0};
    event(0, EVENT_ALLOC, 1, 0x1000, 100);
    slots[0].memory = MEMORY_PINNED;
    event(1, EVENT_ALLOC, 2, 0, 100);
    slots[1].result = 2;
    tally_add(&tally, events, 2);
    tally_finish(&tally);
    assert_int_equal(tally.live.peak_bytes[0], 0);
    assert_int_equal(tally.live.failed_allocations, 1);
    tally_release(&tally);
}

TEST(a_call_that_has_not_returned_is_no_event)
{
    struct tally tally = {0};
    event(0, EVENT_ALLOC, 1, 0x1000, 100);
    event(1, EVENT_FREE, 2, 0x1000, 0);
    atomic_store(&slots[1].state, SLOT_PENDING);
    tally_add(&tally, events, 2);
    assert_int_equal(tally.live.live_bytes[0], 100);
    tally_release(&tally);
}

TEST(thousands_of_blocks_come_and_go)
{
    struct tally tally = {0};
    uint64_t seq = 0;
    for (uint64_t i = 1; i <= 20000; i++) {
        event(0, EVENT_ALLOC, ++seq, i << 9, i);
        tally_add(&tally, events, 1);
    }
    for (uint64_t i = 1; i <= 20000; i++) {
        event(0, EVENT_FREE, ++seq, i << 9, 0);
        tally_add(&tally, events, 1);
    }
    tally_finish(&tally);
    assert_int_equal(tally.live.peak_bytes[0], (uint64_t)20000 * 20001 / 2);
    assert_int_equal(tally.live.live_bytes[0], 0);
    tally_release(&tally);
}

TEST(a_gap_is_not_waited_for_longer_than_the_limit)
{
    struct tally tally = {0};
    for (uint64_t i = 0; i < TALLY_WAITING_MAX + 10; i++) {
        event(0, EVENT_ALLOC, i + 2, (i + 1) << 9, 1);
        tally_add(&tally, events, 1);
    }
    assert_int_equal(tally.live.live_bytes[0], TALLY_WAITING_MAX + 10);
    tally_release(&tally);
}

TEST(the_peaks_name_the_pool_that_leads_each_device)
{
    struct tally tally = {0};
    char text[TALLY_PEAKS_BYTES];
    event(0, EVENT_ALLOC, 1, 0x1000, 1000);
    event(1, EVENT_ALLOC, 2, 0x1000, 70);
    slots[1].memory = MEMORY_TENSOR;
    slots[1].object = 17;
    event(2, EVENT_ALLOC, 3, 0x1100, 200);
    slots[2].memory = MEMORY_TENSOR;
    slots[2].object = 18;
    event(3, EVENT_ALLOC, 4, 0x9000, 50);
    slots[3].device = 1;
    tally_add(&tally, events, 4);
    tally_finish(&tally);
    assert_true(tally_peaks(&tally, text));
    assert_string_equal(text, "0 18 200 1000;1 0 50 50");
    tally_release(&tally);
}

TEST(peaks_of_an_event_that_came_too_late_are_not_known)
{
    struct tally tally = {0};
    char text[TALLY_PEAKS_BYTES];
    event(0, EVENT_ALLOC, 1, 0x1000, 100);
    event(1, EVENT_ALLOC, 3, 0x2000, 100);
    tally_add(&tally, events, 2);
    tally_finish(&tally);
    assert_true(tally_peaks(&tally, text));
    event(2, EVENT_FREE, 2, 0x1000, 0);
    tally_add(&tally, &events[2], 1);
    assert_false(tally_peaks(&tally, text));
    tally_release(&tally);
}

UNIT_MAIN(NULL, NULL)
