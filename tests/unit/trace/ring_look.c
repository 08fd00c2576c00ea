/* SPDX-License-Identifier: MIT */
/* A watcher's view of a ring that is in use. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit_test.h"
#include "trace/ring_look.h"
#include "trace/tally.h"

#define TRACE "ring_look.db"

static struct ring ring;

static int fresh_ring(void **state)
{
    struct err err;
    (void)state;
    unlink(TRACE "-ring.0");
    return ring_create(&ring, TRACE "-ring.0", 4 * RING_SEGMENT_BYTES, &err);
}

static int remove_ring(void **state)
{
    (void)state;
    ring_release(&ring);
    return unlink(TRACE "-ring.0");
}

static struct ring_slot *add_event(struct ring_segment *segment, uint64_t seq, bool is_in_call)
{
    struct ring_slot *slot = ring_claim(&ring, segment, 1);
    slot->seq = seq;
    slot->kind = EVENT_FREE;
    slot->type = SLOT_EVENT;
    atomic_store(&slot->state, is_in_call ? SLOT_PENDING : SLOT_DONE);
    return slot;
}

TEST_WITH(nothing_waits_in_a_ring_that_is_empty_or_missing, fresh_ring, remove_ring)
{
    assert_true(ring_look(TRACE).is_there);
    assert_true(ring_look(TRACE).first_seq == UINT64_MAX);
    assert_false(ring_look("missing.db").is_there);
    assert_true(ring_look("missing.db").first_seq == UINT64_MAX);
}

TEST_WITH(the_first_event_that_waits_is_the_lowest_of_all_segments, fresh_ring, remove_ring)
{
    struct ring_segment *first = ring_take_segment(&ring), *second = ring_take_segment(&ring);
    add_event(first, 12, false);
    add_event(first, 14, false);
    add_event(second, 11, true);
    assert_int_equal(ring_look(TRACE).first_seq, 11);
    assert_true(ring_look(TRACE).is_in_call);
}

TEST_WITH(what_is_stored_waits_no_more, fresh_ring, remove_ring)
{
    struct ring_segment *segment = ring_take_segment(&ring);
    add_event(segment, 3, false);
    add_event(segment, 4, false);
    atomic_store(&segment->tail, 1);
    assert_int_equal(ring_look(TRACE).first_seq, 4);
    assert_false(ring_look(TRACE).is_in_call);
    atomic_store(&segment->tail, 2);
    assert_true(ring_look(TRACE).first_seq == UINT64_MAX);
}

TEST_WITH(a_definition_with_its_text_and_a_call_that_was_no_event_are_passed_over, fresh_ring,
          remove_ring)
{
    struct ring_segment *segment = ring_take_segment(&ring);
    struct ring_slot *definition = ring_claim(&ring, segment, 1 + record_text_slots(100));
    definition->type = SLOT_STRING;
    definition->call_id = 100;
    memset(definition[1].text, 'x', SLOT_TEXT_BYTES);
    ring_publish(definition);
    add_event(segment, 5, false)->kind = EVENT_NONE;
    add_event(segment, 6, false);
    assert_int_equal(ring_look(TRACE).first_seq, 6);
}

TEST_WITH(losses_and_the_writers_sums_are_told, fresh_ring, remove_ring)
{
    struct tally tally = {.next_seq = 9};
    tally.live.live_bytes[2] = 5;
    tally.live.peak_bytes[2] = 7;
    tally.live.pools[0] = 33;
    tally.live.live_bytes[live_account_of_pool(0, 1)] = 2;
    tally.live.peak_bytes[live_account_of_pool(0, 1)] = 3;
    tally_publish(&tally, &ring.header->sums);
    atomic_store(&ring.header->lost_events, 4);
    const struct ring_look look = ring_look(TRACE);
    assert_int_equal(look.lost_events, 4);
    assert_int_equal(look.sums.seq, 8);
    assert_int_equal(look.sums.count, 2);
    assert_int_equal(look.sums.items[0].pool, 33);
    assert_int_equal(look.sums.items[0].device, 1);
    assert_int_equal(look.sums.items[0].live_bytes, 2);
    assert_int_equal(look.sums.items[1].pool, 0);
    assert_int_equal(look.sums.items[1].device, 2);
    assert_int_equal(look.sums.items[1].peak_bytes, 7);
}

TEST_WITH(sums_that_are_being_written_are_not_told, fresh_ring, remove_ring)
{
    struct tally tally = {.next_seq = 9};
    tally.live.peak_bytes[0] = 7;
    tally_publish(&tally, &ring.header->sums);
    atomic_fetch_add(&ring.header->sums.version, 1);
    assert_int_equal(ring_look(TRACE).sums.count, 0);
}

TEST_WITH(sums_that_a_replay_might_not_find_are_not_told, fresh_ring, remove_ring)
{
    struct tally tally = {.next_seq = 9};
    tally.live.peak_bytes[0] = 7;
    tally.live.is_doubtful = true;
    tally_publish(&tally, &ring.header->sums);
    assert_int_equal(ring_look(TRACE).sums.seq, 8);
    assert_int_equal(ring_look(TRACE).sums.count, 0);
}

int main(void)
{
    char folder[] = "/tmp/ring_look.XXXXXX";
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    const int failed = cmocka_run_group_tests(unit_tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
