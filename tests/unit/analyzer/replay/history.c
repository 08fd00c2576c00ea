/* SPDX-License-Identifier: MIT */
/* Compares the history of a trace, which is made in memory, with a count that is kept while the
   events are made. */
#include "replayed.h"

enum { ADDRESSES = 64, DEVICES = 3, EVENTS = 50000 };

struct truth {
    uint64_t live_bytes[DEVICES], peak_bytes[DEVICES];
    uint64_t allocations_count[DEVICES], frees_count[DEVICES];
    uint64_t peak_index[DEVICES];
};

static void note_live(struct truth *truth, int device, uint64_t index)
{
    if (truth->live_bytes[device] <= truth->peak_bytes[device])
        return;
    truth->peak_bytes[device] = truth->live_bytes[device];
    truth->peak_index[device] = index;
}

/* Makes random allocations and frees. sizes[slot] has the live bytes at address slot + 1. */
static struct made_events make_events(struct truth *truth)
{
    uint64_t sizes[ADDRESSES] = {0};
    uint32_t random = 5;
    struct made_events made = {0};
    while (made.count < EVENTS) {
        uint32_t slot;
        int device;

        random = random * 1664525u + 1013904223u;
        slot = (random >> 8) % ADDRESSES;
        device = (int)(slot % DEVICES);
        if (sizes[slot]) {
            made_add(&made, (struct event){.kind = EVENT_FREE,
                                           .memory = MEMORY_LINEAR,
                                           .device = DEVICE_UNKNOWN,
                                           .address = slot + 1});
            truth->live_bytes[device] -= sizes[slot];
            truth->frees_count[device]++;
            sizes[slot] = 0;
            continue;
        }
        sizes[slot] = (random >> 16) + 1;
        made_add(&made, (struct event){.kind = EVENT_ALLOC,
                                       .memory = MEMORY_LINEAR,
                                       .device = (int8_t)device,
                                       .address = slot + 1,
                                       .size_bytes = sizes[slot]});
        truth->live_bytes[device] += sizes[slot];
        truth->allocations_count[device]++;
        note_live(truth, device, made.count - 1);
    }
    return made;
}

TEST(random_traffic_on_three_devices_is_counted_to_the_byte)
{
    struct truth truth = {0};
    struct made_events made = make_events(&truth);
    struct history history = made_replay(&made, NULL);
    assert_int_equal(history.device_count, DEVICES);
    for (int device = 0; device < DEVICES; device++) {
        const struct device_use *use = history_device(&history, device);
        const struct account *account = &history.accounts[use->accounts[ACCOUNT_device]];

        assert_int_equal(account->live_bytes, truth.live_bytes[device]);
        assert_int_equal(account->peak_bytes, truth.peak_bytes[device]);
        assert_int_equal(account->peak.index, truth.peak_index[device]);
        assert_int_equal(account->allocations_count, truth.allocations_count[device]);
        assert_int_equal(account->frees_count, truth.frees_count[device]);
    }
    assert_int_equal(history.unknown_frees_count, 0);
    history_release(&history);
}

struct watcher {
    uint64_t events_count, births_count, ends_count, resizes_count;
    uint64_t highest_bytes, last_index;
    uint32_t account;
    uint64_t live_bytes;
};

static int watch_change(void *self, const struct cursor *at, const struct change *change)
{
    struct watcher *watcher = self;
    uint64_t bytes = change->block->size_bytes;
    assert_true(at->index >= watcher->last_index);
    watcher->last_index = at->index;
    watcher->births_count += change->birth;
    watcher->ends_count += !change->birth;
    watcher->resizes_count += change->is_resize;
    if (change->block->account != watcher->account)
        return 0;
    watcher->live_bytes += change->birth ? bytes : -bytes;
    assert_int_equal(watcher->live_bytes, at->history->accounts[watcher->account].live_bytes);
    if (watcher->live_bytes > watcher->highest_bytes)
        watcher->highest_bytes = watcher->live_bytes;
    return 0;
}

static int watch_event(void *self, const struct cursor *at)
{
    (void)at;
    ((struct watcher *)self)->events_count++;
    return 0;
}

static struct history watched_replay(struct made_events *made, struct watcher *watcher)
{
    const struct observer observer = {
        .self = watcher, .on_change = watch_change, .on_event = watch_event};
    const struct replay_plan plan = {.observers = {&observer, 1}};
    return made_replay(made, &plan);
}

TEST(observers_see_every_event_in_order_with_the_live_bytes_behind_it)
{
    for (int device = 0; device < DEVICES; device++) {
        struct truth truth = {0};
        struct made_events made = make_events(&truth);
        /* The accounts of a device are known only after its first event. So a first replay finds
           the accounts, and a second replay watches them. */
        struct watcher watcher = {.account = HISTORY_NONE};
        struct history history = watched_replay(&made, &watcher);
        uint32_t account = history_device(&history, device)->accounts[ACCOUNT_device];

        history_release(&history);
        made = make_events(&truth);
        watcher = (struct watcher){.account = account};
        history = watched_replay(&made, &watcher);
        assert_int_equal(watcher.events_count, EVENTS);
        assert_int_equal(watcher.births_count + watcher.ends_count, EVENTS);
        assert_int_equal(watcher.highest_bytes, history.accounts[account].peak_bytes);
        assert_int_equal(watcher.live_bytes, history.accounts[account].live_bytes);
        history_release(&history);
    }
}

TEST(an_event_that_ends_several_blocks_shows_each_end)
{
    struct made_events made = {0};
    struct watcher watcher = {.account = ACCOUNT_device};
    for (uint64_t address = 1; address <= 3; address++)
        made_add(&made, (struct event){.kind = EVENT_ALLOC,
                                       .memory = MEMORY_LINEAR,
                                       .address = address,
                                       .size_bytes = 10});
    made_add(&made, (struct event){.kind = EVENT_CONTEXT_DESTROY});
    struct history history = watched_replay(&made, &watcher);
    assert_int_equal(history.devices[0].accounts[ACCOUNT_device], watcher.account);
    assert_int_equal(watcher.births_count, 3);
    assert_int_equal(watcher.ends_count, 3);
    assert_int_equal(watcher.live_bytes, 0);
    history_release(&history);
}

TEST(a_change_of_size_is_an_end_and_a_birth_of_the_same_block)
{
    static const uint64_t sizes[] = {10, 30, 30, 5};
    struct made_events made = {0};
    struct watcher watcher = {.account = ACCOUNT_device};
    for (int i = 0; i < 4; i++)
        made_add(&made, (struct event){.kind = EVENT_POOL_USAGE,
                                       .memory = MEMORY_GRAPH,
                                       .address = sizes[i],
                                       .size_bytes = 30});
    struct history history = watched_replay(&made, &watcher);
    assert_int_equal(watcher.births_count, 3);
    assert_int_equal(watcher.resizes_count, 2);
    assert_int_equal(watcher.live_bytes, 5);
    assert_int_equal(history.accounts[watcher.account].allocations_count, 1);
    assert_int_equal(history.block_slots.used, 1);
    assert_int_equal(history.blocks[0].end, BLOCK_LIVE);
    assert_int_equal(history.blocks[0].size_bytes, 5);
    history_release(&history);
}

TEST(a_framework_pool_is_summed_on_each_device_apart)
{
    struct made_events made = {0};
    for (int8_t device = 0; device < 2; device++)
        made_add(&made, (struct event){.kind = EVENT_ALLOC,
                                       .memory = MEMORY_TENSOR,
                                       .device = device,
                                       .address = 1 + (uint64_t)device,
                                       .size_bytes = 10 + (uint64_t)device});
    struct history history = made_replay(&made, NULL);
    for (int device = 0; device < 2; device++) {
        const struct account *leading =
            &history.accounts[history_device(&history, device)->leading];
        assert_int_equal(leading->kind, ACCOUNT_pool);
        assert_int_equal(leading->device, device);
        assert_int_equal(leading->live_bytes, 10 + device);
    }
    history_release(&history);
}

TEST(samples_of_two_devices_do_not_measure_a_module)
{
    struct made_events made = {0};
    for (int8_t device = 0; device < 2; device++)
        made_add(&made, (struct event){.kind = EVENT_DEVICE_MEMORY,
                                       .device = device,
                                       .nested = 1,
                                       .address = 100 - 60 * (uint64_t)device});
    made_add(&made, (struct event){.kind = EVENT_MODULE_LOAD, .device = 1, .object = 7});
    struct history history = made_replay(&made, NULL);
    assert_int_equal(history.block_slots.used, 1);
    assert_int_equal(history.blocks[0].size_bytes, 0);
    assert_int_equal(history.samples[DEVICE_SLOT(1)].reported_index, 2);
    history_release(&history);
}

UNIT_MAIN(NULL, NULL)
