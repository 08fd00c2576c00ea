/* SPDX-License-Identifier: MIT */
/* Passes each event to its handler; see replay.h. */
#include "replay.h"

#include <stdlib.h>

#include "allocations.h"
#include "analyzer/util/array.h"
#include "analyzer/util/reads.h"
#include "bindings.h"
#include "captures.h"
#include "refused/failures.h"
#include "graph_mempool.h"
#include "modules.h"
#include "process_answers.h"
#include "refused/refusals.h"
#include "analyzer/replay/history/live_walk.h"
#include "analyzer/replay/history/past.h"
#include "analyzer/replay/phase/backwards.h"

struct replay {
    struct blocks blocks;
    struct contexts contexts;
    struct vmm vmm;
    struct bindings bindings;
    struct captures captures;
    struct memory_samples samples;
    struct process_answers answers;
    const struct replay_plan *plan;
    size_t stopped_count; /* stops that have passed */
    struct moment before; /* the event before the current one */
    bool is_asked;        /* the requested moment has passed */
};

/* --- one handler for each kind of event --- */

/*
 * Notes the stack of the current event as that of its thread's autograd node. Nodes that a backward
 * makes get the stack of the call to backward: backward threads have no line.
 */
static int note_forward(struct blocks *blocks)
{
    const uint32_t call =
        blocks_is_of_backward(blocks) ? backwards_open_stack(blocks->at.history) : 0;
    return autograd_note_forward(&blocks->autograd, &blocks->at,
                                 call ? call : blocks->at.event->stack_id);
}

static int on_alloc(struct replay *replay)
{
    struct blocks *blocks = &replay->blocks;
    const struct event *event = blocks->at.event;
    memory_samples_tell(&replay->samples, &blocks->at);
    if (event->memory == MEMORY_TENSOR && !blocks_is_of_backward(blocks) &&
        backwards_note(&blocks->at, &blocks->spans.inferred))
        return -1;
    if ((event->memory == MEMORY_TENSOR && note_forward(blocks)) ||
        allocations_alloc(&replay->vmm, blocks))
        return -1;
    return event->memory == MEMORY_TENSOR && event->result == 0
               ? captures_take_tensor(&replay->captures, &blocks->at, &blocks->ranges)
               : 0;
}

static int on_pool_usage(struct blocks *blocks)
{
    if (blocks->at.event->memory == MEMORY_GRAPH)
        return graph_mempool_report(blocks);
    uint32_t mempool = mempools_find(&blocks->mempools, &blocks->at);
    return mempool == HISTORY_NONE ? -1 : mempools_report(&blocks->at, mempool);
}

/* The kinds of events that change no block. */
static int note_event(struct replay *replay)
{
    struct blocks *blocks = &replay->blocks;
    const struct cursor *at = &blocks->at;
    switch (at->event->kind) {
    case EVENT_DEVICE_MEMORY:
        return memory_samples_add(&replay->samples, at, &blocks->accounts);
    case EVENT_PHASE_PUSH:
        return spans_push(&blocks->spans, at);
    case EVENT_PHASE_POP:
        return spans_pop(&blocks->spans, at);
    case EVENT_AUTOGRAD_NODE:
        if (autograd_work_for(&blocks->autograd, at))
            return -1;
        return at->event->stack_id ? note_forward(blocks) : 0;
    case EVENT_PROCESS_MEMORY:
        if (at->event->device != DEVICE_UNKNOWN)
            process_answers_read(&replay->answers, at);
        return 0;
    case EVENT_POOL_LIMIT:
        process_answers_set_limit(at);
        return 0;
    default:
        return 0;
    }
}

/* Hands the event to the part of the replay that its kind changes. A call to a graph or a capture
 * that failed changes nothing. */
static int change_state(struct replay *replay)
{
    struct blocks *blocks = &replay->blocks;
    const struct cursor *at = &blocks->at;
    const bool has_failed = at->event->result != 0;
    switch (at->event->kind) {
    case EVENT_ALLOC:
        return on_alloc(replay);
    case EVENT_FREE:
        return allocations_free(&replay->contexts, &replay->vmm, blocks);
    case EVENT_MAP:
        return vmm_map(&replay->vmm, blocks);
    case EVENT_UNMAP:
        return vmm_unmap(&replay->vmm, blocks);
    case EVENT_RETAIN:
        return vmm_retain(&replay->vmm, blocks);
    case EVENT_BIND:
        return bindings_bind(&replay->bindings, &replay->vmm, blocks);
    case EVENT_UNBIND:
        return bindings_unbind(&replay->bindings, &replay->vmm, blocks);
    case EVENT_CONTEXT_CREATE:
        return contexts_create(&replay->contexts, blocks);
    case EVENT_CONTEXT_DESTROY:
        return contexts_destroy(&replay->contexts, blocks);
    case EVENT_POOL_CREATE:
        return mempools_create(&blocks->mempools, at);
    case EVENT_POOL_DESTROY:
        return mempools_destroy(&blocks->mempools, at);
    case EVENT_POOL_USAGE:
        return on_pool_usage(blocks);
    case EVENT_MODULE_LOAD:
        return modules_load(&replay->samples, blocks);
    case EVENT_MODULE_UNLOAD:
        return modules_unload(&replay->contexts, blocks);
    case EVENT_LIMIT:
        return modules_set_limit(&replay->samples, blocks);
    case EVENT_CAPTURE_BEGIN:
        return has_failed ? 0 : captures_begin(&replay->captures, at);
    case EVENT_CAPTURE_END:
        return has_failed ? 0 : captures_end(&replay->captures, at);
    case EVENT_GRAPH_MADE:
        return has_failed ? 0 : captures_make_graph(&replay->captures, at);
    case EVENT_GRAPH_DESTROY:
        if (!has_failed)
            captures_destroy_graph(&replay->captures, at);
        return 0;
    default:
        return note_event(replay);
    }
}

static int on_block_end(void *self, uint32_t block)
{
    struct replay *replay = self;
    return bindings_end(&replay->bindings, &replay->vmm, &replay->blocks, block);
}

/* --- the moments that are kept --- */

static void ask_of_account(const struct history *history, struct account *account,
                           struct moment moment)
{
    account->asked = moment;
    account->asked_reported_index = history_reported_index(history, account->device);
}

/* Sets the moment for all accounts of the device, also for those that are added later. */
static void ask_at(struct replay *replay, struct moment moment, int device)
{
    struct history *history = replay->blocks.at.history;
    struct accounts *accounts = &replay->blocks.accounts;
    accounts->asked = moment;
    accounts->asked_device = device;
    for (size_t i = 0; i < history->account_count; i++)
        if (device == ANY_DEVICE || history->accounts[i].device == device)
            ask_of_account(history, &history->accounts[i], moment);
}

/* The state at the begin of the phase also counts, as the state at the first event inside it. */
static void ask_in_phase(struct replay *replay)
{
    struct history *history = replay->blocks.at.history;
    if (!replay->blocks.spans.asked_count)
        return;
    if (!replay->is_asked)
        ask_at(replay, cursor_moment(&replay->blocks.at), ANY_DEVICE);
    for (size_t i = 0; i < history->account_count; i++) {
        struct account *account = &history->accounts[i];
        if (replay->is_asked && account->live_bytes <= account->asked_bytes)
            continue;
        ask_of_account(history, account, cursor_moment(&replay->blocks.at));
        account->asked_bytes = account->live_bytes;
    }
    replay->is_asked = true;
}

/*
 * Called before an event is handled. If this event lies after the requested moment, the moment is
 * the state right after the previous event.
 */
static void ask_before(struct replay *replay, const struct event *event)
{
    const struct replay_plan *plan = replay->plan;
    if (replay->is_asked || (plan->asked != ASKED_TIME && plan->asked != ASKED_SEQ) ||
        (plan->asked == ASKED_TIME ? event->time_ns : event->seq) <= plan->number)
        return;
    replay->is_asked = true;
    ask_at(replay, replay->before, ANY_DEVICE);
}

static void ask_after(struct replay *replay)
{
    struct history *history = replay->blocks.at.history;
    const struct replay_plan *plan = replay->plan;
    if (plan->asked == ASKED_PHASE)
        ask_in_phase(replay);
    if (plan->asked != ASKED_FAILURE || replay->is_asked || history->failures_in_all < plan->number)
        return;
    const struct failure *failure = &history->failures[history->failure_count - 1];
    while (failure->number != plan->number)
        failure--;
    replay->is_asked = true;
    history->asked_failure_number = plan->number;
    ask_at(replay, failure->at, history->accounts[failure->account].device);
}

static int stop_after(struct replay *replay)
{
    const struct cursor *at = &replay->blocks.at;
    const struct replay_plan *plan = replay->plan;
    if (replay->stopped_count == plan->stop_count ||
        plan->stops[replay->stopped_count] != at->index)
        return 0;
    at->history->stops[replay->stopped_count++] = cursor_moment(at);
    at->history->stop_count = replay->stopped_count;
    return past_pin(at->history, at->index, at->err);
}

/* --- the pass --- */

static int show_event(const struct cursor *at)
{
    for (size_t i = 0; i < at->observers->count; i++) {
        const struct observer *observer = &at->observers->items[i];
        const bool is_told = !observer->kinds || observer->kinds >> at->event->kind & 1;
        if (is_told && observer->on_event && observer->on_event(observer->self, at))
            return -1;
    }
    return 0;
}

static int handle_event(struct replay *replay, const struct event *event)
{
    struct blocks *blocks = &replay->blocks;
    if (event->device != DEVICE_UNKNOWN &&
        accounts_add_device(&blocks->accounts, &blocks->at, event->device))
        return -1;
    if (event->result == INT32_MIN) { /* the process was killed inside the call */
        blocks->at.history->in_flight_count++;
        return 0;
    }
    if (event->kind == EVENT_ALLOC &&
        spans_infer(&blocks->spans, &blocks->at,
                    event->memory == MEMORY_TENSOR &&
                        autograd_records(&blocks->autograd, &blocks->at)))
        return -1;
    return change_state(replay);
}

static int replay_event(struct replay *replay, const struct event *event)
{
    struct blocks *blocks = &replay->blocks;
    struct cursor *at = &blocks->at;
    at->index = at->history->event_count++;
    at->event = event;
    ask_before(replay, event);
    if ((event->kind == EVENT_ALLOC && refusals_before_alloc(at)) || handle_event(replay, event))
        return -1;
    if (event->result)
        process_answers_join(&replay->answers, at);
    ask_after(replay);
    replay->before = cursor_moment(at);
    return stop_after(replay) || (at->observers->count && show_event(at)) ? -1 : 0;
}

/* Number of events that may still be replayed. */
static uint64_t events_left(const struct replay *replay)
{
    const uint64_t most = replay->plan->events_most;
    return most ? most - replay->blocks.at.history->event_count : UINT64_MAX;
}

/* Live blocks do not fit into the CPU's caches, so they are prefetched some events ahead. */
enum { NEAR_AHEAD = 4, FAR_AHEAD = 8 };

static int replay_batch(struct replay *replay, const struct event_batch *batch)
{
    struct history *history = replay->blocks.at.history;
    for (size_t i = 0; i < batch->count; i++)
        history->rows_by_kind[batch->events[i].kind]++;
    history->row_count += batch->count;
    history->has_exit = batch->has_exit;
    history->last_row_time_ns = batch->events[batch->count - 1].time_ns;
    history->last_row_seq = batch->events[batch->count - 1].seq;
    const uint64_t left = events_left(replay);
    for (size_t i = 0; i < batch->counted && i < left; i++) {
        if (i + FAR_AHEAD < batch->counted)
            allocations_prefetch(&replay->blocks, &batch->events[i + NEAR_AHEAD],
                                 &batch->events[i + FAR_AHEAD]);
        if (replay_event(replay, &batch->events[i]))
            return -1;
    }
    replay->blocks.at.event = NULL; /* the event lies in the batch */
    return 0;
}

static int tell_end(struct replay *replay)
{
    const struct observers *observers = &replay->plan->observers;
    for (size_t i = 0; i < observers->count; i++) {
        const struct observer *observer = &observers->items[i];
        if (observer->on_end && observer->on_end(observer->self, &replay->blocks.at))
            return -1;
    }
    return 0;
}

static int finish(struct replay *replay)
{
    struct blocks *blocks = &replay->blocks;
    struct history *history = blocks->at.history;
    const struct replay_plan *plan = replay->plan;
    blocks->at.index = history->event_count;
    history->last = replay->before;
    if (failures_finish(&blocks->at))
        return -1;
    if (plan->asked == ASKED_FAILURE)
        ask_after(replay);
    if (plan->asked == ASKED_END ||
        (!replay->is_asked && (plan->asked == ASKED_TIME || plan->asked == ASKED_SEQ)))
        ask_at(replay, replay->before, ANY_DEVICE);
    if (spans_close_all(&blocks->spans, &blocks->at) || uses_finish(&blocks->uses, &blocks->at))
        return -1;
    driver_ranges_finish(&blocks->ranges, history);
    accounts_finish(history);
    return tell_end(replay) ? -1 : live_sets_init(history, blocks->at.err);
}

static int run(struct replay *replay, const struct event_source *source)
{
    struct err *err = replay->blocks.at.err;
    struct event_batch batch;
    for (;;) {
        if (source->next(source->self, &batch, err))
            return -1;
        if (!batch.count || !events_left(replay))
            return finish(replay);
        if (replay_batch(replay, &batch))
            return -1;
    }
}

static int replay_init(struct replay *replay, struct history *history,
                       const struct replay_plan *plan, struct err *err)
{
    struct blocks *blocks = &replay->blocks;
    replay->plan = plan;
    replay->before = (struct moment){.index = INDEX_NONE};
    blocks->at = (struct cursor){
        .history = history, .observers = &plan->observers, .spans = &blocks->spans, .err = err};
    blocks->listener = (struct block_listener){.on_end = on_block_end, .self = replay};
    contexts_init(&replay->contexts);
    if (blocks_init(blocks, history->trace, err))
        return -1;
    history->forgets = plan->forgets;
    blocks->ranges.is_unasked = plan->ignores_segments;
    blocks->spans.takes_libraries = plan->takes_library_ranges;
    blocks->spans.paths.rule_of = plan->rule_of;
    blocks->spans.paths.asked = plan->asked == ASKED_PHASE ? plan->name : NULL;
    history->stops = array_new(plan->stop_count, sizeof *history->stops, err);
    return history->stops ? 0 : -1;
}

static void replay_release(struct replay *replay)
{
    blocks_release(&replay->blocks);
    contexts_release(&replay->contexts);
    vmm_release(&replay->vmm);
    bindings_release(&replay->bindings);
    captures_release(&replay->captures);
    memory_samples_release(&replay->samples);
}

struct replay *replay_begin(struct history *history, const struct trace *trace,
                            const struct replay_plan *plan, struct err *err)
{
    struct replay *replay = array_new(1, sizeof *replay, err);
    if (!replay)
        return NULL;
    reads_count_replay();
    *history = (struct history){.trace = trace, .last = {.index = INDEX_NONE}};
    past_init(history);
    history->keeper = plan->keeper;
    if (!replay_init(replay, history, plan, err))
        return replay;
    replay_end(replay);
    history_release(history);
    return NULL;
}

int replay_take(struct replay *replay, const struct event_batch *batch)
{
    return batch->count ? replay_batch(replay, batch) : 0;
}

int replay_pause(struct replay *replay)
{
    struct blocks *blocks = &replay->blocks;
    blocks->at.history->last = replay->before;
    accounts_finish(blocks->at.history);
    return tell_end(replay);
}

int replay_learn(struct replay *replay)
{
    const struct cursor *at = &replay->blocks.at;
    return blocks_learn(&replay->blocks, at->history->trace, at->err);
}

void replay_end(struct replay *replay)
{
    if (!replay)
        return;
    replay_release(replay);
    free(replay);
}

int replay_trace(struct history *history, const struct trace *trace,
                 const struct event_source *source, const struct replay_plan *plan, struct err *err)
{
    struct replay *replay = replay_begin(history, trace, plan, err);
    if (!replay)
        return -1;
    const int status = run(replay, source);
    replay_end(replay);
    if (status)
        history_release(history);
    return status;
}
