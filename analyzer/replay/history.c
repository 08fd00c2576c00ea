/* SPDX-License-Identifier: MIT */
/* Builds a history in one ordered pass over the events, and shows it to visitors; see history.h. */
#include "live_walk.h"
#include "history.h"

#include <stdlib.h>

#include "replay.h"
#include "analyzer/util/array.h"

static int note_step(struct replay *replay)
{
    struct history *history = replay->history;
    uint32_t *grown = array_grow(history->steps, &history->step_capacity, history->step_count,
                                 sizeof *grown, replay->err);

    if (!grown)
        return -1;
    history->steps = grown;
    grown[history->step_count++] = replay->index;
    return 0;
}

static int (*const handlers[EVENT_KIND_COUNT])(struct replay *replay) = {
    [EVENT_ALLOC] = replay_alloc,
    [EVENT_FREE] = replay_free,
    [EVENT_MAP] = replay_map,
    [EVENT_UNMAP] = replay_unmap,
    [EVENT_CONTEXT_CREATE] = replay_context_create,
    [EVENT_CONTEXT_DESTROY] = replay_context_destroy,
    [EVENT_POOL_CREATE] = replay_pool_create,
    [EVENT_POOL_DESTROY] = replay_pool_destroy,
    [EVENT_POOL_USAGE] = replay_pool_usage,
    [EVENT_DEVICE_MEMORY] = replay_memory_sample,
    [EVENT_PHASE_PUSH] = replay_push,
    [EVENT_PHASE_POP] = replay_pop,
    [EVENT_STEP] = note_step,
    [EVENT_RETAIN] = replay_retain,
    [EVENT_BIND] = replay_bind,
    [EVENT_UNBIND] = replay_unbind,
    [EVENT_MODULE_LOAD] = replay_module_load,
    [EVENT_MODULE_UNLOAD] = replay_module_unload,
    [EVENT_LIMIT] = replay_limit,
};

/* The exit that ends the figures; see "EXIT" in history.h. */
static uint32_t find_exit(const struct trace *trace)
{
    enum { EXIT_EXEC = 2 };
    uint32_t exec = HISTORY_NONE;

    for (size_t i = 0; i < trace->event_count; i++) {
        const struct event *event = &trace->events[i];

        if (exec != HISTORY_NONE && trace->events[exec].thread_id == event->thread_id)
            exec = HISTORY_NONE;
        if (event->kind != EVENT_EXIT)
            continue;
        if (event->object != EXIT_EXEC)
            return exec != HISTORY_NONE ? exec : (uint32_t)i;
        if (exec == HISTORY_NONE)
            exec = (uint32_t)i;
    }
    return exec;
}

static int start(struct replay *replay, struct history *history, const struct trace *trace,
                 struct err *err)
{
    if (trace->event_count >= HISTORY_NONE) {
        err_set(err, ERR_INPUT, "%s: more than %u events", trace->path, HISTORY_NONE - 1);
        return -1;
    }
    history->trace = trace;
    history->exit_index = find_exit(trace);
    history->event_count = history->exit_index == HISTORY_NONE ? (uint32_t)trace->event_count
                                                               : history->exit_index + 1;
    replay->history = history;
    replay->err = err;
    range_map_init(&replay->ranges);
    replay_spans_init(replay);
    for (int slot = 0; slot < DEVICE_SLOTS; slot++) {
        replay->live_blocks[slot] = replay->context_death[slot] = HISTORY_NONE;
        for (int account = 0; account < ACCOUNT_COUNT; account++)
            replay->stock_of[slot][account] = HISTORY_NONE;
    }
    for (uint32_t i = 0; i < history->event_count && !replay->has_tensors; i++)
        replay->has_tensors = trace->events[i].memory == MEMORY_TENSOR;
    return inferred_build(&replay->inferred, trace, err);
}

static int run(struct replay *replay)
{
    const struct history *history = replay->history;

    for (replay->index = 0; replay->index < history->event_count; replay->index++) {
        replay->event = &history->trace->events[replay->index];
        if (replay->event->device != DEVICE_UNKNOWN && replay_device(replay, replay->event->device))
            return -1;
        if (replay->event->result == INT32_MIN) /* it did not happen */
            replay->history->in_flight_count++;
        else if (replay->event->kind == EVENT_ALLOC && replay_infer(replay))
            return -1;
        else if (handlers[replay->event->kind] && handlers[replay->event->kind](replay))
            return -1;
    }
    return 0;
}

static void release_replay(struct replay *replay)
{
    address_map_release(&replay->live);
    address_map_release(&replay->names);
    range_map_release(&replay->ranges);
    free(replay->owners);
    free(replay->objects);
    free(replay->handles);
    free(replay->bindings);
    free(replay->samples);
    free(replay->contexts);
    inferred_release(&replay->inferred);
    free(replay->open);
    free(replay->thread_innermost);
    free(replay->live_bytes);
}

int history_build(struct history *history, const struct trace *trace, struct err *err)
{
    struct replay *replay = array_new(1, sizeof *replay, err);
    int status = -1;

    *history = (struct history){0};
    if (!replay)
        return -1;
    if (start(replay, history, trace, err) || run(replay))
        goto out;
    for (size_t i = 0; i < history->stock_count; i++)
        history->stocks[i].live_bytes = replay->live_bytes[i];
    replay_choose_leading(history);
    status = live_lists_build(history, err);
out:
    release_replay(replay);
    free(replay);
    if (status)
        history_release(history);
    return status;
}

void history_release(struct history *history)
{
    for (size_t i = 0; i < history->path_count; i++)
        free(history->paths[i].text);
    free(history->blocks);
    free(history->changes);
    free(history->stocks);
    free(history->devices);
    free(history->paths);
    free(history->spans);
    free(history->segments);
    free(history->mempools);
    free(history->usages);
    free(history->failures);
    free(history->steps);
    free(history->memory_samples);
    free(history->live_lists);
    free(history->live_listed);
    *history = (struct history){0};
}

const struct device_use *history_device(const struct history *history, int device)
{
    for (size_t i = 0; i < history->device_count; i++)
        if (history->devices[i].device == device)
            return &history->devices[i];
    return NULL;
}

const struct block *history_birth_at(const struct history *history, uint32_t index)
{
    size_t low = 0, high = history->change_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (history->changes[middle].event < index)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < history->change_count && history->changes[low].event == index; low++)
        if (history->changes[low].birth)
            return &history->blocks[history->changes[low].block];
    return NULL;
}

static void show(const struct step *step, const struct visitor *visitors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        visitors[i].on_event(visitors[i].self, step);
}

static uint64_t apply(struct step *step, const struct change *change, uint64_t *live_bytes)
{
    const struct block *block = &step->history->blocks[change->block];
    uint64_t delta_bytes = change->birth ? block->size_bytes : -block->size_bytes;

    step->block = block;
    live_bytes[block->stock] += delta_bytes;
    return delta_bytes;
}

/* The first half of a change of size: nobody is shown the moment between the two. */
static bool goes_on(const struct history *history, const struct change *change)
{
    return !change->birth && history->blocks[change->block].end == BLOCK_RESIZED;
}

int history_visit(const struct history *history, const struct visitor *visitors, size_t count,
                  struct err *err)
{
    uint64_t *live_bytes = array_new(history->stock_count, sizeof *live_bytes, err);
    size_t change = 0;

    if (!live_bytes)
        return -1;
    for (uint32_t i = 0; i < history->event_count; i++) {
        struct step step = {.history = history,
                            .event = &history->trace->events[i],
                            .index = i,
                            .live_bytes = live_bytes};

        if (change == history->change_count || history->changes[change].event != i)
            show(&step, visitors, count);
        while (change < history->change_count && history->changes[change].event == i) {
            uint64_t delta_bytes = apply(&step, &history->changes[change], live_bytes);

            if (goes_on(history, &history->changes[change++]))
                delta_bytes += apply(&step, &history->changes[change++], live_bytes);
            step.delta_bytes = (int64_t)delta_bytes;
            show(&step, visitors, count);
        }
    }
    free(live_bytes);
    return 0;
}
