/* SPDX-License-Identifier: MIT */
/* The history of a trace made in memory, against a count kept while the events are made. */
#include "analyzer/replay/replay.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analyzer/replay/visit.h"

enum { ADDRESSES = 64, DEVICES = 3, EVENTS = 50000 };

struct truth {
    uint64_t live_bytes[DEVICES], peak_bytes[DEVICES];
    uint64_t allocations_count[DEVICES], frees_count[DEVICES];
    uint32_t peak_index[DEVICES];
};

static void add(struct trace *trace, struct event event)
{
    event.seq = trace->event_count + 1;
    event.time_ns = event.seq * 10;
    event.thread_id = 1;
    trace->events[trace->event_count++] = event;
}

static void note_live(struct truth *truth, int device, uint32_t index)
{
    if (truth->live_bytes[device] <= truth->peak_bytes[device])
        return;
    truth->peak_bytes[device] = truth->live_bytes[device];
    truth->peak_index[device] = index;
}

/* Random allocations and frees; sizes[] says what is live where. */
static void make_events(struct trace *trace, struct truth *truth)
{
    uint64_t sizes[ADDRESSES] = {0};
    uint32_t random = 5;

    trace->events = calloc(EVENTS, sizeof *trace->events);
    assert_non_null(trace->events);
    while (trace->event_count < EVENTS) {
        uint32_t slot;
        int device;

        random = random * 1664525u + 1013904223u;
        slot = (random >> 8) % ADDRESSES;
        device = (int)(slot % DEVICES);
        if (sizes[slot]) {
            add(trace, (struct event){.kind = EVENT_FREE,
                                      .memory = MEMORY_LINEAR,
                                      .device = DEVICE_UNKNOWN,
                                      .address = slot + 1});
            truth->live_bytes[device] -= sizes[slot];
            truth->frees_count[device]++;
            sizes[slot] = 0;
            continue;
        }
        sizes[slot] = (random >> 16) + 1;
        add(trace, (struct event){.kind = EVENT_ALLOC,
                                  .memory = MEMORY_LINEAR,
                                  .device = (int8_t)device,
                                  .address = slot + 1,
                                  .size_bytes = sizes[slot]});
        truth->live_bytes[device] += sizes[slot];
        truth->allocations_count[device]++;
        note_live(truth, device, (uint32_t)trace->event_count - 1);
    }
}

static void random_traffic_on_three_devices_is_counted_to_the_byte(void **state)
{
    struct trace trace = {0};
    struct truth truth = {0};
    struct history history;

    (void)state;
    make_events(&trace, &truth);
    assert_int_equal(replay_trace(&history, &trace, NULL), 0);
    assert_int_equal(history.device_count, DEVICES);
    for (int device = 0; device < DEVICES; device++) {
        const struct device_use *use = history_device(&history, device);
        const struct stock *stock = &history.stocks[use->stocks[ACCOUNT_device]];

        assert_int_equal(stock->live_bytes, truth.live_bytes[device]);
        assert_int_equal(stock->peak_bytes, truth.peak_bytes[device]);
        assert_int_equal(stock->peak_index, truth.peak_index[device]);
        assert_int_equal(stock->allocations_count, truth.allocations_count[device]);
        assert_int_equal(stock->frees_count, truth.frees_count[device]);
    }
    assert_int_equal(history.unknown_frees_count, 0);
    history_release(&history);
    free(trace.events);
}

struct watcher {
    uint64_t steps_count, changes_count;
    uint64_t highest_bytes;
    uint32_t last_index;
    uint32_t stock;
    int64_t balance_bytes;
};

static void watch(void *self, const struct visit *visit)
{
    struct watcher *watcher = self;

    assert_true(visit->index >= watcher->last_index);
    watcher->last_index = visit->index;
    watcher->steps_count++;
    watcher->changes_count += visit->block != NULL;
    if (!visit->block || visit->block->stock != watcher->stock)
        return;
    watcher->balance_bytes += visit->delta_bytes;
    assert_int_equal(watcher->balance_bytes, visit->live_bytes[watcher->stock]);
    if (visit->live_bytes[watcher->stock] > watcher->highest_bytes)
        watcher->highest_bytes = visit->live_bytes[watcher->stock];
}

static void visitors_see_every_event_in_order_with_the_live_bytes_behind_it(void **state)
{
    struct trace trace = {0};
    struct truth truth = {0};
    struct history history;
    struct watcher watchers[2] = {0};

    (void)state;
    make_events(&trace, &truth);
    assert_int_equal(replay_trace(&history, &trace, NULL), 0);
    for (int i = 0; i < 2; i++)
        watchers[i].stock = history_device(&history, i)->stocks[ACCOUNT_device];
    assert_int_equal(history_visit(&history,
                                   (struct visitor[]){{&watchers[0], watch}, {&watchers[1], watch}},
                                   2, NULL),
                     0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(watchers[i].steps_count, EVENTS);
        assert_int_equal(watchers[i].changes_count, EVENTS);
        assert_int_equal(watchers[i].highest_bytes, truth.peak_bytes[i]);
        assert_int_equal(watchers[i].balance_bytes, truth.live_bytes[i]);
    }
    history_release(&history);
    free(trace.events);
}

static void an_event_that_ends_several_blocks_is_seen_once_for_each(void **state)
{
    struct event events[4];
    struct trace trace = {.events = events};
    struct watcher watcher = {0};
    struct history history;

    (void)state;
    for (uint64_t address = 1; address <= 3; address++)
        add(&trace, (struct event){.kind = EVENT_ALLOC,
                                   .memory = MEMORY_LINEAR,
                                   .address = address,
                                   .size_bytes = 10});
    add(&trace, (struct event){.kind = EVENT_CONTEXT_DESTROY});
    assert_int_equal(replay_trace(&history, &trace, NULL), 0);
    watcher.stock = history.devices[0].stocks[ACCOUNT_device];
    assert_int_equal(history_visit(&history, &(struct visitor){&watcher, watch}, 1, NULL), 0);
    assert_int_equal(watcher.steps_count, 6);
    assert_int_equal(watcher.balance_bytes, 0);
    history_release(&history);
}

static void a_change_of_size_is_one_step_that_adds_the_difference(void **state)
{
    static const uint64_t sizes[] = {10, 30, 30, 5};
    struct event events[4];
    struct trace trace = {.events = events};
    struct watcher watcher = {0};
    struct history history;

    (void)state;
    for (int i = 0; i < 4; i++)
        add(&trace, (struct event){
                        .kind = EVENT_POOL_USAGE, .memory = MEMORY_GRAPH, .size_bytes = sizes[i]});
    assert_int_equal(replay_trace(&history, &trace, NULL), 0);
    watcher.stock = history.devices[0].stocks[ACCOUNT_device];
    assert_int_equal(history_visit(&history, &(struct visitor){&watcher, watch}, 1, NULL), 0);
    assert_int_equal(watcher.steps_count, 4);
    assert_int_equal(watcher.changes_count, 3);
    assert_int_equal(watcher.balance_bytes, 5);
    assert_int_equal(history.block_count, 3);
    assert_int_equal(history.blocks[0].end, BLOCK_RESIZED);
    assert_int_equal(history.blocks[2].end, BLOCK_LIVE);
    assert_int_equal(history_birth_at(&history, 1)->size_bytes, 30);
    history_release(&history);
}

static void the_birth_at_an_event_is_found_and_only_there(void **state)
{
    struct event events[3];
    struct trace trace = {.events = events};
    struct history history;

    (void)state;
    add(&trace, (struct event){.kind = EVENT_MARK, .device = DEVICE_UNKNOWN});
    add(&trace, (struct event){
                    .kind = EVENT_ALLOC, .memory = MEMORY_LINEAR, .address = 1, .size_bytes = 10});
    add(&trace, (struct event){.kind = EVENT_FREE, .memory = MEMORY_LINEAR, .address = 1});
    assert_int_equal(replay_trace(&history, &trace, NULL), 0);
    assert_null(history_birth_at(&history, 0));
    assert_ptr_equal(history_birth_at(&history, 1), &history.blocks[0]);
    assert_null(history_birth_at(&history, 2));
    assert_null(history_birth_at(&history, HISTORY_NONE));
    assert_false(block_is_live(&history.blocks[0], 0));
    assert_true(block_is_live(&history.blocks[0], 1));
    assert_false(block_is_live(&history.blocks[0], 2));
    history_release(&history);
}

static void a_framework_pool_is_summed_on_each_device_apart(void **state)
{
    struct event events[2];
    struct trace trace = {.events = events};
    struct history history;

    (void)state;
    for (int8_t device = 0; device < 2; device++)
        add(&trace, (struct event){.kind = EVENT_ALLOC,
                                   .memory = MEMORY_TENSOR,
                                   .device = device,
                                   .address = 1 + (uint64_t)device,
                                   .size_bytes = 10 + (uint64_t)device});
    assert_int_equal(replay_trace(&history, &trace, NULL), 0);
    for (int device = 0; device < 2; device++) {
        const struct stock *leading = &history.stocks[history_device(&history, device)->leading];
        assert_int_equal(leading->account, ACCOUNT_pool);
        assert_int_equal(leading->device, device);
        assert_int_equal(leading->live_bytes, 10 + device);
    }
    history_release(&history);
}

static void samples_of_two_devices_do_not_measure_a_module(void **state)
{
    struct event events[3];
    struct trace trace = {.events = events};
    struct history history;

    (void)state;
    for (int8_t device = 0; device < 2; device++)
        add(&trace, (struct event){.kind = EVENT_DEVICE_MEMORY,
                                   .device = device,
                                   .nested = 1,
                                   .address = 100 - 60 * (uint64_t)device});
    add(&trace, (struct event){.kind = EVENT_MODULE_LOAD, .device = 1, .object = 7});
    assert_int_equal(replay_trace(&history, &trace, NULL), 0);
    assert_int_equal(history.block_count, 1);
    assert_int_equal(history.blocks[0].size_bytes, 0);
    assert_int_equal(history.memory_samples[1].told, 2);
    history_release(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traffic_on_three_devices_is_counted_to_the_byte),
        cmocka_unit_test(visitors_see_every_event_in_order_with_the_live_bytes_behind_it),
        cmocka_unit_test(an_event_that_ends_several_blocks_is_seen_once_for_each),
        cmocka_unit_test(a_change_of_size_is_one_step_that_adds_the_difference),
        cmocka_unit_test(the_birth_at_an_event_is_found_and_only_there),
        cmocka_unit_test(a_framework_pool_is_summed_on_each_device_apart),
        cmocka_unit_test(samples_of_two_devices_do_not_measure_a_module),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
