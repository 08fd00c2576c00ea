/* SPDX-License-Identifier: MIT */
/* A recorded run through the model of the allocator; see whatif.h. */
#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/load/event_reader.h"
#include "analyzer/replay/memory_rules.h"
#include "analyzer/replay/replay.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"
#include "graphs.h"
#include "outside.h"
#include "runs.h"

/* --- devices --- */

static int device_init(struct whatif *whatif, struct whatif_device *device, struct err *err)
{
    recorded_init(&device->recorded, device->device, &whatif->driver_blocks,
                  &whatif->own.allocator);
    device->runs = array_new(whatif->ask_count, sizeof *device->runs, err);
    if (!device->runs)
        return -1;
    for (size_t i = 0; i < whatif->ask_count; i++) {
        struct whatif_run *run = &device->runs[i];
        struct whatif_settings settings = whatif->own;

        run->ask = whatif->asks[i];
        run->failure.at.index = run->last_same_index = INDEX_NONE;
        if (run->ask.change && settings_change(&settings, run->ask.change, err))
            return -1;
        run->fraction = run->ask.fraction > 0 ? run->ask.fraction : settings.fraction;
        allocator_init(&run->allocator, &settings.allocator);
    }
    return 0;
}

/* NULL: out of memory. */
static struct whatif_device *find_device(struct whatif *whatif, int number, struct err *err)
{
    struct whatif_device *device = whatif->devices[DEVICE_SLOT(number)];
    if (device)
        return device;
    device = array_new(1, sizeof *device, err);
    if (!device)
        return NULL;
    device->device = number;
    device->fraction_below_bytes = ALLOCATOR_UNLIMITED;
    whatif->devices[DEVICE_SLOT(number)] = device;
    return device_init(whatif, device, err) ? NULL : device;
}

/* --- the card's memory --- */

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + ALLOCATOR_GRANULE_BYTES - 1) / ALLOCATOR_GRANULE_BYTES *
           ALLOCATOR_GRANULE_BYTES;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Counts whole granules, because the driver hands these out; small allocations share granules. */
static uint64_t driver_bytes(const struct whatif_device *device)
{
    return device->whole_bytes + round_up(device->small_bytes);
}

/* Returns the bytes that this process holds on the card by the recording. */
static uint64_t held_bytes(const struct whatif_device *device, const struct history *history)
{
    const struct device_use *use = history_device(history, device->device);
    return driver_bytes(device) +
           (use ? history->accounts[use->accounts[ACCOUNT_context]].live_bytes : 0);
}

/* Returns the bytes that this process holds on the card outside the recorded pool. */
static uint64_t outside_bytes(const struct whatif_device *device, const struct history *history)
{
    return minus(held_bytes(device, history), device->recorded.allocator.reserved_bytes);
}

static int note_change(void *self, const struct cursor *at, const struct change *change)
{
    struct whatif *whatif = self;
    const struct block *block = change->block;
    const struct account *account = &at->history->accounts[block->account];
    if (account->kind != ACCOUNT_device)
        return 0;
    struct whatif_device *device = find_device(whatif, account->device, at->err);
    if (!device)
        return -1;
    if (!change->birth && !block->is_segment)
        runs_hold(whatif, device, at, outside_bytes(device, at->history));
    const bool is_small = block->size_bytes < ALLOCATOR_GRANULE_BYTES;
    const uint64_t bytes = is_small ? block->size_bytes : round_up(block->size_bytes);
    uint64_t *sum = is_small ? &device->small_bytes : &device->whole_bytes;
    *sum += change->birth ? bytes : -bytes;
    if (driver_bytes(device) > device->peak_driver_bytes)
        device->peak_driver_bytes = driver_bytes(device);
    return 0;
}

/* Raises the peak to context_bytes. Called only when the card's next answer comes, because until
 * then the last answer may turn out to belong to a later event. */
static void note_context(struct whatif_device *device)
{
    if (device->context_bytes > device->peak_context_bytes)
        device->peak_context_bytes = device->context_bytes;
}

/* Takes the card's answer if it belongs to this event. The memory in use, less the memory that this
 * process holds, is that of its context and of other processes. */
static int note_sample(struct whatif *whatif, const struct cursor *at)
{
    const struct memory_sample *sample = &at->history->samples[DEVICE_SLOT(at->event->device)];
    if (!sample->known || !sample->total_bytes || sample->reported_index != at->index)
        return 0;
    struct whatif_device *device = find_device(whatif, at->event->device, at->err);
    if (!device)
        return -1;
    const uint64_t used_bytes = minus(sample->total_bytes, sample->free_bytes);
    device->card_known = true;
    device->total_bytes = sample->total_bytes;
    if (device->sample_index != sample->life.begin_index)
        note_context(device);
    device->sample_index = sample->life.begin_index;
    device->context_bytes = minus(used_bytes, held_bytes(device, at->history) +
                                                  outside_idle_bytes(at->history, device->device));
    return 0;
}

/* --- events --- */

static bool is_pytorch(const struct trace *trace, const struct event *event)
{
    return event->memory == MEMORY_TENSOR &&
           (!event->object || torch_is_pool(trace_string(trace, event->object)));
}

bool whatif_device_is_over(const struct whatif_device *device)
{
    return device->no_run_goes_on || device->recorded.difference.kind != DIFFERENCE_NONE;
}

static uint32_t *add_tensor(struct whatif *whatif, const struct event *event, struct err *err)
{
    const size_t width = whatif->ask_count + HANDLE_RUNS;
    const uint32_t slot = slots_take(&whatif->tensor_slots, err);
    if (slot == SLOT_NONE || array_grow(&whatif->handles, &whatif->handle_capacity, slot,
                                        width * sizeof *whatif->handles, err))
        return NULL;
    uint32_t *added = &whatif->handles[slot * width];
    for (size_t i = 0; i < width; i++)
        added[i] = ALLOCATOR_NONE;
    added[HANDLE_DEVICE] = (uint32_t)DEVICE_SLOT(event->device);
    return pair_map_put(&whatif->tensors, 0, event->address, slot, err) ? NULL : added;
}

static int free_handles(const struct whatif *whatif, const uint32_t *handles,
                        const struct event *event, struct err *err)
{
    struct whatif_device *device = whatif->devices[handles[HANDLE_DEVICE]];
    if (whatif_device_is_over(device))
        return 0;
    device->has_emptied = false;
    if (recorded_free(&device->recorded, event, handles[HANDLE_RECORDED], err))
        return -1;
    for (size_t i = 0; i < whatif->ask_count; i++)
        if (handles[HANDLE_RUNS + i] != ALLOCATOR_NONE && run_goes_on(&device->runs[i]) &&
            allocator_free(&device->runs[i].allocator, handles[HANDLE_RUNS + i], err))
            return -1;
    return 0;
}

static int free_tensor(struct whatif *whatif, const struct event *event, struct err *err)
{
    const uint32_t slot = pair_map_remove(&whatif->tensors, 0, event->address);
    if (slot == PAIR_MAP_NONE)
        return 0;
    slots_give_back(&whatif->tensor_slots, slot);
    return free_handles(whatif, &whatif->handles[slot * (whatif->ask_count + HANDLE_RUNS)], event,
                        err);
}

static int alloc_tensor(struct whatif *whatif, const struct cursor *at)
{
    const struct event *event = at->event;
    struct whatif_device *device = find_device(whatif, event->device, at->err);
    uint32_t block, *handles = NULL;
    if (!device)
        return -1;
    if (whatif_device_is_over(device) || (event->result == 0 && !event->address))
        return 0;
    device->has_pool = true;
    struct allocator_request request = graphs_request(whatif, device, event);
    requested_apply(&whatif->requested, &device->recorded.allocator, event, &request);
    if (recorded_alloc(&device->recorded, event, &request, &block, at->err))
        return -1;
    if (whatif_device_is_over(device))
        return 0;
    runs_note_limit(device, event);
    if (event->result == 0) {
        handles = add_tensor(whatif, event, at->err);
        if (!handles)
            return -1;
        handles[HANDLE_RECORDED] = block;
    }
    const struct run_request asked = {
        .at = at, .request = &request, .outside_bytes = outside_bytes(device, at->history)};

    return runs_alloc(whatif, device, &asked, handles);
}

static int replay_tensor(struct whatif *whatif, const struct cursor *at)
{
    const struct event *event = at->event;
    if (event->result == INT32_MIN)
        return 0;
    if (event->kind == EVENT_ALLOC)
        return alloc_tensor(whatif, at);
    return event->result == 0 ? free_tensor(whatif, event, at->err) : 0;
}

/* Replays that memory goes back to the driver. If a pool used the memory, the pool gave it back. */
static int end_driver_block(struct whatif *whatif, const struct cursor *at, uint64_t address)
{
    struct driver_block *driver_block = driver_blocks_at(&whatif->driver_blocks, address);
    for (int i = 0; driver_block && driver_block->is_used && i < DEVICE_SLOTS; i++) {
        struct whatif_device *device = whatif->devices[i];

        if (!device || !device->has_pool || whatif_device_is_over(device) ||
            driver_block->device != device->device)
            continue;
        if (recorded_give_back(&device->recorded, at->event, driver_block, at->err) ||
            runs_empty_cache(whatif, device, at->err))
            return -1;
    }
    driver_blocks_remove(&whatif->driver_blocks, address);
    return 0;
}

static int end_mappings(struct whatif *whatif, const struct cursor *at)
{
    uint64_t address = at->event->address, left_bytes = at->event->size_bytes;
    while (left_bytes) {
        const struct driver_block *driver_block = driver_blocks_at(&whatif->driver_blocks, address);
        const uint64_t bytes = driver_block ? driver_block->bytes : 0;

        if (!bytes || bytes > left_bytes)
            return 0;
        if (end_driver_block(whatif, at, address))
            return -1;
        address += bytes;
        left_bytes -= bytes;
    }
    return 0;
}

static int replay_driver_alloc(struct whatif *whatif, const struct cursor *at)
{
    const struct event *event = at->event;
    struct whatif_device *device;
    if (event->result != 0) {
        if (event->device == DEVICE_UNKNOWN)
            return 0;
        device = find_device(whatif, event->device, at->err);
        if (device)
            device->was_refused = true;
        return device ? 0 : -1;
    }
    if (event->memory == MEMORY_RESERVATION) {
        whatif->driver_blocks.range_address = event->address;
        whatif->driver_blocks.range_bytes = event->size_bytes;
    }
    if (event->memory == MEMORY_LINEAR && event->address)
        return driver_blocks_add(&whatif->driver_blocks, event, false, at->err);
    return 0;
}

static int replay_event(void *self, const struct cursor *at)
{
    struct whatif *whatif = self;
    const struct event *event = at->event;
    int status = 0;
    if (is_pytorch(at->history->trace, event) &&
        (event->kind == EVENT_ALLOC || event->kind == EVENT_FREE))
        return replay_tensor(whatif, at);
    if (event->kind == EVENT_POOL_ASKED)
        whatif->requested = (struct requested){event->address, event->size_bytes};
    if (event->kind == EVENT_ALLOC && event->memory != MEMORY_TENSOR)
        status = replay_driver_alloc(whatif, at);
    else if (event->kind == EVENT_FREE && event->memory == MEMORY_LINEAR && event->result == 0)
        status = end_driver_block(whatif, at, event->address);
    else if (event->kind == EVENT_MAP && event->result == 0)
        status = driver_blocks_add(&whatif->driver_blocks, event, true, at->err);
    else if (event->kind == EVENT_UNMAP && event->result == 0)
        status = end_mappings(whatif, at);
    if (!status)
        status = graphs_event(whatif, event, at->err);
    return status || note_sample(whatif, at) ? -1 : 0;
}

/* --- the pass --- */

static int take_limit(void *self, const struct pool_limit *limit, struct err *err)
{
    struct whatif *whatif = self;
    struct whatif_device *device = find_device(whatif, limit->device, err);
    if (!device)
        return -1;
    device->reported_differ |= device->reported.bytes && device->reported.bytes != limit->bytes;
    device->reported = *limit;
    if (device->reported_differ)
        device->reported.bytes = 0;
    return 0;
}

int whatif_init(struct whatif *whatif, const struct trace *trace, const struct whatif_ask *asks,
                size_t ask_count, struct err *err)
{
    *whatif = (struct whatif){.asks = asks, .ask_count = ask_count};
    const struct pool_limit_listener listener = {take_limit, whatif};

    if (settings_of_trace(&whatif->own, trace, err))
        return -1;
    return pool_limits_read(trace, &listener, err);
}

static int note_end(void *self, const struct cursor *at)
{
    struct whatif *whatif = self;
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        struct whatif_device *device = whatif->devices[i];

        if (!device)
            continue;
        note_context(device);
        runs_hold(whatif, device, at, outside_bytes(device, at->history));
        device->refused_bytes = outside_refused_bytes(at->history, device->device);
    }
    return 0;
}

struct observer whatif_observer(struct whatif *whatif)
{
    return (struct observer){
        .self = whatif, .on_change = note_change, .on_event = replay_event, .on_end = note_end};
}

static int run_pass(struct whatif *whatif, const struct trace *trace, struct err *err)
{
    const struct observer observer = whatif_observer(whatif);
    const struct replay_plan plan = {.observers = {&observer, 1}};
    struct event_reader *reader = event_reader_new(trace, NULL, err);
    struct history history;
    if (!reader)
        return -1;
    const struct event_source source = event_reader_source(reader);
    const int status = replay_trace(&history, trace, &source, &plan, err);
    if (!status)
        history_release(&history);
    event_reader_free(reader);
    return status;
}

int whatif_replay(struct whatif *whatif, const struct trace *trace, const struct whatif_ask *asks,
                  size_t ask_count, struct err *err)
{
    if (!whatif_init(whatif, trace, asks, ask_count, err) && !run_pass(whatif, trace, err))
        return 0;
    whatif_release(whatif);
    return -1;
}

void whatif_release(struct whatif *whatif)
{
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        struct whatif_device *device = whatif->devices[i];

        if (!device)
            continue;
        for (size_t j = 0; device->runs && j < whatif->ask_count; j++)
            allocator_release(&device->runs[j].allocator);
        free(device->runs);
        recorded_release(&device->recorded);
        free(device);
    }
    private_pools_release(&whatif->graphs);
    driver_blocks_release(&whatif->driver_blocks);
    pair_map_release(&whatif->tensors);
    slots_release(&whatif->tensor_slots);
    free(whatif->handles);
    *whatif = (struct whatif){0};
}
