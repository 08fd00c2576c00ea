/* SPDX-License-Identifier: MIT */
/* Hands each event to what it concerns; see replay.h. */
#include "replay.h"

#include <stdlib.h>

#include "allocations.h"
#include "analyzer/util/array.h"
#include "bindings.h"
#include "graph_mempool.h"
#include "live_walk.h"
#include "modules.h"

struct replay {
    struct blocks blocks;
    struct contexts contexts;
    struct vmm vmm;
    struct bindings bindings;
    struct memory_samples samples;
};

/* --- one handler for each kind of event --- */

static int on_alloc(struct replay *replay)
{
    return allocations_alloc(&replay->vmm, &replay->blocks);
}

static int on_free(struct replay *replay)
{
    return allocations_free(&replay->contexts, &replay->vmm, &replay->blocks);
}

static int on_map(struct replay *replay)
{
    return vmm_map(&replay->vmm, &replay->blocks);
}

static int on_unmap(struct replay *replay)
{
    return vmm_unmap(&replay->vmm, &replay->blocks);
}

static int on_retain(struct replay *replay)
{
    return vmm_retain(&replay->vmm, &replay->blocks);
}

static int on_bind(struct replay *replay)
{
    return bindings_bind(&replay->bindings, &replay->vmm, &replay->blocks);
}

static int on_unbind(struct replay *replay)
{
    return bindings_unbind(&replay->bindings, &replay->vmm, &replay->blocks);
}

static int on_context_create(struct replay *replay)
{
    return contexts_create(&replay->contexts, &replay->blocks);
}

static int on_context_destroy(struct replay *replay)
{
    return contexts_destroy(&replay->contexts, &replay->blocks);
}

static int on_pool_create(struct replay *replay)
{
    return mempools_create(&replay->blocks.mempools, &replay->blocks.at);
}

static int on_pool_destroy(struct replay *replay)
{
    return mempools_destroy(&replay->blocks.mempools, &replay->blocks.at);
}

static int on_pool_usage(struct replay *replay)
{
    struct blocks *blocks = &replay->blocks;
    if (blocks->at.event->memory == MEMORY_GRAPH)
        return graph_mempool_report(blocks);
    uint32_t mempool = mempools_find(&blocks->mempools, &blocks->at);
    return mempool == HISTORY_NONE ? -1 : mempools_report(&blocks->at, mempool);
}

static int on_device_memory(struct replay *replay)
{
    return memory_samples_add(&replay->samples, &replay->blocks.at, &replay->blocks.stocks);
}

static int on_module_load(struct replay *replay)
{
    return modules_load(&replay->samples, &replay->blocks);
}

static int on_module_unload(struct replay *replay)
{
    return modules_unload(&replay->contexts, &replay->blocks);
}

static int on_limit(struct replay *replay)
{
    return modules_set_limit(&replay->samples, &replay->blocks);
}

static int on_phase_push(struct replay *replay)
{
    return spans_push(&replay->blocks.spans, &replay->blocks.at);
}

static int on_phase_pop(struct replay *replay)
{
    return spans_pop(&replay->blocks.spans, &replay->blocks.at);
}

static int on_step(struct replay *replay)
{
    const struct cursor *at = &replay->blocks.at;
    struct history *history = at->history;
    uint32_t *grown = array_grow(history->steps, &history->step_capacity, history->step_count,
                                 sizeof *grown, at->err);
    if (!grown)
        return -1;
    history->steps = grown;
    grown[history->step_count++] = at->index;
    return 0;
}

static int (*const handlers[EVENT_KIND_COUNT])(struct replay *replay) = {
    [EVENT_ALLOC] = on_alloc,
    [EVENT_FREE] = on_free,
    [EVENT_MAP] = on_map,
    [EVENT_UNMAP] = on_unmap,
    [EVENT_RETAIN] = on_retain,
    [EVENT_BIND] = on_bind,
    [EVENT_UNBIND] = on_unbind,
    [EVENT_CONTEXT_CREATE] = on_context_create,
    [EVENT_CONTEXT_DESTROY] = on_context_destroy,
    [EVENT_POOL_CREATE] = on_pool_create,
    [EVENT_POOL_DESTROY] = on_pool_destroy,
    [EVENT_POOL_USAGE] = on_pool_usage,
    [EVENT_DEVICE_MEMORY] = on_device_memory,
    [EVENT_MODULE_LOAD] = on_module_load,
    [EVENT_MODULE_UNLOAD] = on_module_unload,
    [EVENT_LIMIT] = on_limit,
    [EVENT_PHASE_PUSH] = on_phase_push,
    [EVENT_PHASE_POP] = on_phase_pop,
    [EVENT_STEP] = on_step,
};

static int on_block_end(void *self, uint32_t block)
{
    struct replay *replay = self;
    return bindings_end(&replay->bindings, &replay->vmm, &replay->blocks, block);
}

/* --- the pass --- */

static int replay_event(struct replay *replay, uint32_t index)
{
    struct blocks *blocks = &replay->blocks;
    const struct event *event = &blocks->at.history->trace->events[index];
    blocks->at.event = event;
    blocks->at.index = index;
    if (event->device != DEVICE_UNKNOWN &&
        stocks_add_device(&blocks->stocks, &blocks->at, event->device))
        return -1;
    if (event->result == INT32_MIN) { /* the process was killed inside the call */
        blocks->at.history->in_flight_count++;
        return 0;
    }
    if (event->kind == EVENT_ALLOC && spans_infer(&blocks->spans, &blocks->at))
        return -1;
    return handlers[event->kind] ? handlers[event->kind](replay) : 0;
}

/* What a replay has to know before its first event. */
struct preview {
    uint32_t exit_index; /* the exit after which nothing counts; see "EXIT" in history.h */
    bool has_tensors;
};

static struct preview preview_trace(const struct trace *trace)
{
    enum { EXIT_EXEC = 2 };
    struct preview preview = {.exit_index = HISTORY_NONE};
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct event *event = &trace->events[i];
        preview.has_tensors |= event->memory == MEMORY_TENSOR;
        if (preview.exit_index != HISTORY_NONE &&
            trace->events[preview.exit_index].thread_id == event->thread_id)
            preview.exit_index = HISTORY_NONE; /* an exec that failed */
        if (event->kind != EVENT_EXIT)
            continue;
        if (preview.exit_index == HISTORY_NONE)
            preview.exit_index = (uint32_t)i;
        if (event->object != EXIT_EXEC)
            break;
    }
    return preview;
}

static int replay_init(struct replay *replay, struct history *history, bool has_tensors,
                       struct err *err)
{
    replay->blocks.at = (struct cursor){.history = history, .err = err};
    replay->blocks.listener = (struct block_listener){.on_end = on_block_end, .self = replay};
    contexts_init(&replay->contexts);
    return blocks_init(&replay->blocks, history->trace, has_tensors, err);
}

static void replay_release(struct replay *replay)
{
    blocks_release(&replay->blocks);
    contexts_release(&replay->contexts);
    vmm_release(&replay->vmm);
    bindings_release(&replay->bindings);
    memory_samples_release(&replay->samples);
}

static int replay_run(struct history *history, bool has_tensors, struct err *err)
{
    struct replay *replay = array_new(1, sizeof *replay, err);
    if (!replay)
        return -1;
    int status = replay_init(replay, history, has_tensors, err);
    for (uint32_t i = 0; i < history->event_count && !status; i++)
        status = replay_event(replay, i);
    if (!status)
        stocks_finish(&replay->blocks.stocks, history);
    replay_release(replay);
    free(replay);
    return status;
}

int replay_trace(struct history *history, const struct trace *trace, struct err *err)
{
    *history = (struct history){.trace = trace, .exit_index = HISTORY_NONE};
    if (trace->event_count >= HISTORY_NONE) {
        err_set(err, ERR_INPUT, "%s: more than %u events", trace->path, HISTORY_NONE - 1);
        return -1;
    }
    struct preview preview = preview_trace(trace);
    history->exit_index = preview.exit_index;
    history->event_count = history->exit_index == HISTORY_NONE ? (uint32_t)trace->event_count
                                                               : history->exit_index + 1;
    if (!replay_run(history, preview.has_tensors, err) && !live_lists_build(history, err))
        return 0;
    history_release(history);
    return -1;
}
