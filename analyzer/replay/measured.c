/* SPDX-License-Identifier: MIT */
/*
 * Memory that no call names: what modules and limits took of a device, from its free memory before
 * and after the call. It must not know how blocks are summed.
 *
 *     call of hook H       ┌───────────── H ─────────────┐
 *     events, by number    sample   (others…)   sample   load or limit     all with one call_id
 *                          before               after
 */
#include "replay.h"

#include "analyzer/util/array.h"

enum { SAMPLES_KEPT = sizeof((struct inner_samples){0}.items) / sizeof(struct inner_sample) };

/* --- samples --- */

static struct inner_samples *samples_of_thread(const struct replay *replay)
{
    uint32_t number = address_map_get(&replay->names, NAME_SAMPLES, replay->event->thread_id);

    return number == ADDRESS_MAP_NONE ? NULL : &replay->samples[number];
}

static struct inner_samples *add_thread(struct replay *replay)
{
    struct inner_samples *grown = array_grow(replay->samples, &replay->sample_capacity,
                                             replay->sample_count, sizeof *grown, replay->err);

    if (!grown)
        return NULL;
    replay->samples = grown;
    if (address_map_put(&replay->names, NAME_SAMPLES, replay->event->thread_id,
                        (uint32_t)replay->sample_count, replay->err))
        return NULL;
    grown[replay->sample_count] = (struct inner_samples){0};
    return &grown[replay->sample_count++];
}

static uint64_t own_bytes(const struct replay *replay, int device)
{
    const uint32_t *stocks = replay->stock_of[DEVICE_SLOT(device)];

    return replay->live_bytes[stocks[ACCOUNT_device]] + replay->live_bytes[stocks[ACCOUNT_context]];
}

/* Keeps the sample, taken inside another call, for the event of that call. */
static int keep_for_call(struct replay *replay, size_t number)
{
    const struct event *event = replay->event;
    struct inner_samples *samples = samples_of_thread(replay);

    if (!samples)
        samples = add_thread(replay);
    if (!samples)
        return -1;
    samples->items[samples->count++ % SAMPLES_KEPT] =
        (struct inner_sample){.free_bytes = event->address,
                              .own_bytes = own_bytes(replay, event->device),
                              .number = (uint32_t)number,
                              .hook_id = event->hook_id,
                              .call_id = event->call_id,
                              .device = event->device};
    return 0;
}

int replay_memory_sample(struct replay *replay)
{
    struct history *history = replay->history;
    const struct event *event = replay->event;
    struct memory_sample *grown;

    if (event->result != 0 || event->device == DEVICE_UNKNOWN)
        return 0;
    grown = array_grow(history->memory_samples, &history->memory_sample_capacity,
                       history->memory_sample_count, sizeof *grown, replay->err);
    if (!grown)
        return -1;
    history->memory_samples = grown;
    grown[history->memory_sample_count++] =
        (struct memory_sample){.event = replay->index, .told = replay->index};
    return event->nested ? keep_for_call(replay, history->memory_sample_count - 1) : 0;
}

/* The newest sample of the current event's call among those that are left; NULL: there is none. */
static const struct inner_sample *take_sample(const struct event *event,
                                              struct inner_samples *samples, size_t *left)
{
    while (*left) {
        const struct inner_sample *sample = &samples->items[(samples->count - 1) % SAMPLES_KEPT];

        samples->count--;
        --*left;
        if (sample->hook_id == event->hook_id && sample->call_id == event->call_id)
            return sample;
    }
    return NULL;
}

/* What the call took more than it gave back, less what the process itself took meanwhile. */
static int64_t taken_bytes(const struct replay *replay)
{
    struct inner_samples *samples = samples_of_thread(replay);
    const struct inner_sample *before, *after;
    size_t left;

    if (!samples)
        return 0;
    left = samples->count < SAMPLES_KEPT ? samples->count : SAMPLES_KEPT;
    after = take_sample(replay->event, samples, &left);
    before = take_sample(replay->event, samples, &left);
    if (after)
        replay->history->memory_samples[after->number].told = replay->index;
    if (!before || before->device != after->device)
        return 0;
    return (int64_t)(before->free_bytes - after->free_bytes -
                     (after->own_bytes - before->own_bytes));
}

/* --- modules and limits --- */

static int begin(struct replay *replay, enum memory_kind memory, uint64_t address,
                 int64_t size_bytes)
{
    uint32_t space = replay_rules[memory].space, number;
    struct block born = {.address = address,
                         .size_bytes = size_bytes > 0 ? (uint64_t)size_bytes : 0,
                         .stack_id = replay->event->stack_id,
                         .mempool = HISTORY_NONE,
                         .memory = (uint8_t)memory};

    born.stock = replay_stock(replay, replay->event->device, memory, 0);
    if (born.stock == HISTORY_NONE)
        return -1;
    number = replay_birth(replay, &born);
    if (number == HISTORY_NONE)
        return -1;
    return address_map_put(&replay->live, space, address, number, replay->err);
}

int replay_module_load(struct replay *replay)
{
    const struct event *event = replay->event;
    int64_t size_bytes = taken_bytes(replay);

    if (event->result != 0)
        return replay_failure(replay, replay_stock(replay, event->device, MEMORY_MODULE, 0));
    if (replay_end_at(replay, SPACE_MODULE, event->object, BLOCK_LOST))
        return -1;
    return begin(replay, MEMORY_MODULE, event->object, size_bytes);
}

/* A library outlives the context that its memory went away with, so nothing there is no surprise.
 */
int replay_module_unload(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t number = address_map_get(&replay->live, SPACE_MODULE, event->object);

    if (number == ADDRESS_MAP_NONE ||
        (event->result != 0 && !replay_went_with_context(replay, number)))
        return 0;
    return replay_end_at(replay, SPACE_MODULE, event->object,
                         event->result == 0 ? BLOCK_FREED : BLOCK_IMPLICIT);
}

/* Numbers of limits are small and handles of contexts are pointers. */
static uint64_t limit_key(const struct event *event)
{
    return event->object ^ event->address << 56;
}

/* The samples tell a change: what the limit took before is part of what it takes now. */
int replay_limit(struct replay *replay)
{
    const struct event *event = replay->event;
    uint64_t key = limit_key(event);
    uint32_t number = address_map_get(&replay->live, SPACE_LIMIT, key);
    int64_t size_bytes = taken_bytes(replay);

    if (event->result != 0)
        return replay_failure(replay, replay_stock(replay, event->device, MEMORY_LIMIT, 0));
    if (number != ADDRESS_MAP_NONE)
        size_bytes = (int64_t)((uint64_t)size_bytes + replay->history->blocks[number].size_bytes);
    if (replay_end_at(replay, SPACE_LIMIT, key, BLOCK_FREED))
        return -1;
    return begin(replay, MEMORY_LIMIT, key, size_bytes);
}
