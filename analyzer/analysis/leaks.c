/* SPDX-License-Identifier: MIT */
/* Growth per step; see leaks.h. */
#include "leaks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/replay/phase/spans.h"
#include "analyzer/util/array.h"

enum { WARM_UP_ENDS = 1, FEWEST_ENDS = 3 };

/* One call stack at the ends of one kind. */
struct tracked {
    uint64_t first_bytes, last_bytes;
    uint32_t rises_count;
    bool fell;
    bool dirty; /* changed since the last end */
};

struct tracker {
    struct tracked *stacks; /* by stack id; NULL: the warm-up is not over */
    uint32_t *dirty;
    size_t dirty_count, dirty_capacity;
};

struct stock_growth {
    uint64_t *live_bytes; /* by stack id */
    size_t stack_limit;
    struct tracker trackers[STEP_ENDS];
};

/* --- changes --- */

static int track_change(struct tracker *tracker, uint32_t stack_id, struct err *err)
{
    if (tracker->stacks[stack_id].dirty)
        return 0;
    uint32_t *grown = array_grow(tracker->dirty, &tracker->dirty_capacity, tracker->dirty_count,
                                 sizeof *grown, err);
    if (!grown)
        return -1;
    tracker->dirty = grown;
    grown[tracker->dirty_count++] = stack_id;
    tracker->stacks[stack_id].dirty = true;
    return 0;
}

/* From here on the tracker sees changes: what is live now is the state at the first end. */
static int start_tracker(const struct stock_growth *own, struct tracker *tracker, struct err *err)
{
    tracker->stacks = array_new(own->stack_limit, sizeof *tracker->stacks, err);
    if (!tracker->stacks)
        return -1;
    for (size_t i = 0; i < own->stack_limit; i++)
        tracker->stacks[i].first_bytes = tracker->stacks[i].last_bytes = own->live_bytes[i];
    return 0;
}

static struct stock_growth *find_stock(struct growth_watch *watch, const struct cursor *at,
                                       uint32_t stock)
{
    struct stock_growth *grown = array_reach(watch->stocks, &watch->stock_capacity,
                                             &watch->stock_count, sizeof *grown, stock, at->err);
    if (!grown)
        return NULL;
    watch->stocks = grown;
    struct stock_growth *own = &watch->stocks[stock];
    if (own->live_bytes)
        return own;
    own->stack_limit = at->history->trace->frame_limit + 1; /* 0 is "no stack" */
    own->live_bytes = array_new(own->stack_limit, sizeof *own->live_bytes, at->err);
    return own->live_bytes ? own : NULL;
}

static int on_change(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change)
{
    struct growth_watch *watch = self;
    const struct block *block = change->block;
    (void)spans;
    if (!stock_is_of_layer(&at->history->stocks[block->stock]))
        return 0;
    struct stock_growth *own = find_stock(watch, at, block->stock);
    if (!own)
        return -1;
    for (int kind = 0; kind < STEP_ENDS; kind++) {
        if (watch->ends_count[kind] <= WARM_UP_ENDS)
            continue;
        if (!own->trackers[kind].stacks && start_tracker(own, &own->trackers[kind], at->err))
            return -1;
        if (track_change(&own->trackers[kind], block->stack_id, at->err))
            return -1;
    }
    own->live_bytes[block->stack_id] += change->birth ? block->size_bytes : -block->size_bytes;
    return 0;
}

/* --- ends of steps --- */

static void release_tracker(struct tracker *tracker)
{
    free(tracker->stacks);
    free(tracker->dirty);
    *tracker = (struct tracker){0};
}

/* Looks only at sites that changed; the others neither rose nor fell. */
static void end_step(const struct stock_growth *own, struct tracker *tracker)
{
    for (size_t i = 0; i < tracker->dirty_count; i++) {
        struct tracked *stack = &tracker->stacks[tracker->dirty[i]];
        uint64_t live_bytes = own->live_bytes[tracker->dirty[i]];
        stack->dirty = false;
        stack->rises_count += live_bytes > stack->last_bytes;
        stack->fell |= live_bytes < stack->last_bytes;
        stack->last_bytes = live_bytes;
    }
    tracker->dirty_count = 0;
}

static int end_steps(struct growth_watch *watch, enum step_end kind, struct err *err)
{
    bool is_start = ++watch->ends_count[kind] == WARM_UP_ENDS + 1;
    for (size_t i = 0; i < watch->stock_count; i++) {
        struct stock_growth *own = &watch->stocks[i];
        if (own->live_bytes && is_start && start_tracker(own, &own->trackers[kind], err))
            return -1;
        if (own->trackers[kind].stacks)
            end_step(own, &own->trackers[kind]);
        for (int other = (int)kind + 1; other < STEP_ENDS; other++)
            release_tracker(&own->trackers[other]);
    }
    for (int other = (int)kind + 1; other < STEP_ENDS; other++)
        watch->ends_count[other] = 0;
    return 0;
}

/* The kind that decides as far as is known; STEP_ENDS: no step has ended. */
static enum step_end deciding_kind(const struct growth_watch *watch)
{
    int kind = 0;
    while (kind < STEP_ENDS && !watch->ends_count[kind])
        kind++;
    return (enum step_end)kind;
}

static enum step_end kind_of_path(const struct path *path)
{
    if (!strcasecmp(path->name, "step") || !strcasecmp(path->name, "iteration"))
        return STEP_END_NAMED;
    if (path->source != PHASE_SOURCE_INFERRED)
        return STEP_ENDS;
    if (!strcmp(path->name, "optimizer"))
        return STEP_END_OPTIMIZER;
    return strcmp(path->name, "backward") ? STEP_ENDS : STEP_END_BACKWARD;
}

static int on_span(void *self, const struct cursor *at, const struct spans *spans, uint32_t span,
                   bool begins)
{
    struct growth_watch *watch = self;
    if (begins || !at->event) /* a phase that nobody ended ends no step */
        return 0;
    enum step_end kind = kind_of_path(&at->history->paths[spans->items[span].path]);
    if (kind < STEP_ENDS)
        watch->pending_count[kind]++;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct growth_watch *watch = self;
    watch->pending_count[STEP_END_EVENT] +=
        at->event->kind == EVENT_STEP && at->event->result != INT32_MIN;
    for (int kind = 0; kind < STEP_ENDS; kind++)
        for (; watch->pending_count[kind]; watch->pending_count[kind]--)
            if (kind <= (int)deciding_kind(watch) && end_steps(watch, (enum step_end)kind, at->err))
                return -1;
    return 0;
}

struct observer growth_watch_observer(struct growth_watch *watch)
{
    return (struct observer){
        .self = watch, .on_change = on_change, .on_span = on_span, .on_event = on_event};
}

void growth_watch_release(struct growth_watch *watch)
{
    for (size_t i = 0; i < watch->stock_count; i++) {
        free(watch->stocks[i].live_bytes);
        for (int kind = 0; kind < STEP_ENDS; kind++)
            release_tracker(&watch->stocks[i].trackers[kind]);
    }
    free(watch->stocks);
    *watch = (struct growth_watch){0};
}

/* --- what grew --- */

static int compare_growing(const void *left, const void *right)
{
    const struct growing *a = left, *b = right;

    if (a->bytes_per_step > b->bytes_per_step || a->bytes_per_step < b->bytes_per_step)
        return a->bytes_per_step < b->bytes_per_step ? 1 : -1;
    return (a->stack_id > b->stack_id) - (a->stack_id < b->stack_id);
}

static int keep_growing(struct growth *growth, const struct tracker *tracker, size_t stack_limit,
                        struct err *err)
{
    uint64_t intervals = growth->ends_count - WARM_UP_ENDS - 1;
    size_t capacity = 0;

    for (size_t i = 0; i < stack_limit; i++) {
        const struct tracked *stack = &tracker->stacks[i];
        struct growing *grown;

        if (stack->fell || !stack->rises_count || (uint64_t)stack->rises_count * 2 < intervals)
            continue;
        grown = array_grow(growth->items, &capacity, growth->count, sizeof *grown, err);
        if (!grown)
            return -1;
        growth->items = grown;
        grown[growth->count++] = (struct growing){
            .stack_id = (uint32_t)i,
            .first_bytes = stack->first_bytes,
            .last_bytes = stack->last_bytes,
            .rises_count = stack->rises_count,
            .bytes_per_step = (double)(stack->last_bytes - stack->first_bytes) / (double)intervals};
    }
    if (growth->count)
        qsort(growth->items, growth->count, sizeof *growth->items, compare_growing);
    return 0;
}

int growth_find(struct growth *growth, const struct growth_watch *watch, uint32_t stock,
                struct err *err)
{
    enum step_end kind = deciding_kind(watch);

    *growth = (struct growth){.ends_count = kind < STEP_ENDS ? watch->ends_count[kind] : 0};
    if (growth->ends_count < WARM_UP_ENDS + FEWEST_ENDS || stock >= watch->stock_count ||
        !watch->stocks[stock].trackers[kind].stacks)
        return 0;
    if (!keep_growing(growth, &watch->stocks[stock].trackers[kind],
                      watch->stocks[stock].stack_limit, err))
        return 0;
    growth_release(growth);
    return -1;
}

void growth_release(struct growth *growth)
{
    free(growth->items);
    *growth = (struct growth){0};
}
