/* SPDX-License-Identifier: MIT */
/* Compares the blocks that were live at past moments with the lifetimes of all blocks. */
#include "replayed.h"

#include "analyzer/replay/history/live_walk.h"

enum { EVENTS = 30000, ADDRESSES = 2000, STOPS = 25 };

/* A block's lifetime, as indices of events. */
struct lived {
    uint64_t size_bytes, begin_index, end_index;
};

static struct lived lives[EVENTS];
static size_t life_count;

/* Makes random allocations and frees. Each third of the events begins with more allocations than
   frees and ends with more frees than allocations. */
static struct made_events make_events(void)
{
    static size_t at[ADDRESSES]; /* 1 + index in lives; 0: no live block */
    struct made_events made = {0};
    uint32_t random = 12345;
    life_count = 0;
    for (size_t i = 0; i < ADDRESSES; i++)
        at[i] = 0;
    while (made.count < EVENTS) {
        random = random * 1664525 + 1013904223;
        size_t address = (random >> 8) % ADDRESSES;
        bool is_growing = made.count % (EVENTS / 3) < EVENTS / 5;
        uint64_t index = made.count;

        if (at[address] && (!is_growing || (random >> 4) % 4 == 0)) {
            lives[at[address] - 1].end_index = index;
            at[address] = 0;
            made_add(&made, (struct event){.kind = EVENT_FREE,
                                           .memory = MEMORY_LINEAR,
                                           .address = address + 1});
        } else if (!at[address] && (is_growing || (random >> 4) % 4 == 0)) {
            lives[life_count] = (struct lived){1 + random % 1000, index, INDEX_NONE};
            made_add(&made, (struct event){.kind = EVENT_ALLOC,
                                           .memory = MEMORY_LINEAR,
                                           .address = address + 1,
                                           .size_bytes = lives[life_count].size_bytes});
            at[address] = ++life_count;
        } else {
            made_add(&made, (struct event){.kind = EVENT_MARK});
        }
    }
    return made;
}

static void expect_all_that_lived_at(const struct history *history, uint64_t index)
{
    uint64_t bytes = 0, count = 0, true_bytes = 0, true_count = 0;
    struct live_walk walk =
        live_walk_begin(history, history->devices[0].accounts[ACCOUNT_device], index);
    const struct block *block;
    while ((block = live_walk_next(&walk))) {
        bytes += block->size_bytes;
        count++;
    }
    for (size_t i = 0; i < life_count; i++) {
        if (lives[i].begin_index > index || lives[i].end_index <= index)
            continue;
        true_bytes += lives[i].size_bytes;
        true_count++;
    }
    assert_int_equal(count, true_count);
    assert_int_equal(bytes, true_bytes);
}

TEST(what_was_live_is_found_at_the_peak_at_every_stop_and_at_the_end)
{
    struct made_events made = make_events();
    uint64_t stops[STOPS];
    for (uint64_t i = 0; i < STOPS; i++)
        stops[i] = i * i * (EVENTS - 1) / ((STOPS - 1) * (STOPS - 1));
    struct history history =
        made_replay(&made, &(struct replay_plan){.stops = stops, .stop_count = STOPS});
    const struct account *account = &history.accounts[history.devices[0].accounts[ACCOUNT_device]];
    assert_true(account->peak.index < EVENTS - EVENTS / 10);
    assert_int_equal(history.stop_count, STOPS);
    expect_all_that_lived_at(&history, account->peak.index);
    for (size_t i = 0; i < STOPS; i++)
        expect_all_that_lived_at(&history, stops[i]);
    history_release(&history);
}

TEST(a_moment_that_is_asked_for_by_its_number_is_kept)
{
    for (uint64_t seq = 1; seq < EVENTS; seq += 3001) {
        struct made_events made = make_events();
        struct history history =
            made_replay(&made, &(struct replay_plan){.asked = ASKED_SEQ, .number = seq});
        assert_int_equal(history.accounts[history.devices[0].accounts[ACCOUNT_device]].asked.index,
                         seq - 1);
        expect_all_that_lived_at(&history, seq - 1);
        history_release(&history);
    }
}

TEST(what_ended_is_kept_only_as_long_as_a_moment_needs_it)
{
    struct made_events made = make_events();
    struct history history = made_replay(&made, NULL);
    /* The list may hold the blocks that are live at the peak, and as many again before it is
       thinned. */
    assert_true(history.ended_blocks.count <= 2 * ADDRESSES);
    assert_true(history.block_slots.used <= ADDRESSES);
    history_release(&history);
}

/* The sample is taken inside the call that loads a module. So the sample describes the moment of
   the load, which comes after the failure. */
TEST(failures_that_are_dropped_leave_no_moment_behind)
{
    enum { FAILURES = 1000 };
    const struct event sample = {
        .kind = EVENT_DEVICE_MEMORY, .address = 100, .size_bytes = 200, .call_id = 1, .nested = 1};
    struct made_events made = {0};

    for (int i = 0; i < FAILURES; i++) {
        made_add(&made, sample);
        made_add(&made, (struct event){.kind = EVENT_ALLOC,
                                       .memory = MEMORY_LINEAR,
                                       .size_bytes = 1000,
                                       .result = RESULT_OUT_OF_MEMORY,
                                       .thread_id = 2});
        made_add(&made, (struct event){.kind = EVENT_MODULE_LOAD, .object = 7, .call_id = 1});
    }
    struct history history = made_replay(&made, NULL);
    assert_int_equal(history.failures_in_all, FAILURES);
    assert_true(history.pin_count <= 2 * history.failure_count);
    history_release(&history);
}

UNIT_MAIN(NULL, NULL)
