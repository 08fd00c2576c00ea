/* SPDX-License-Identifier: MIT */
/* Growth per step; see leaks.h. */
#include "leaks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/util/array.h"

enum { WARM_UP_ENDS = 1, FEWEST_ENDS = 3 };

/* One call stack while the changes go by. */
struct tracked {
    uint64_t live_bytes;
    uint64_t first_bytes, last_bytes;
    uint64_t rises_count;
    bool fell;
    bool dirty; /* changed since the last end */
};

struct tracker {
    struct tracked *stacks; /* by stack id */
    uint32_t *dirty;
    size_t dirty_count, dirty_capacity;
};

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static bool is_step_phase(const struct history *history, uint32_t path)
{
    const char *name = history->paths[path].name;

    return !strcasecmp(name, "step") || !strcasecmp(name, "iteration");
}

/* If the optimizer allocates nothing, backward is the last phase of an iteration. */
static bool is_optimizer(const struct history *history, uint32_t path)
{
    return history->paths[path].source == PHASE_SOURCE_INFERRED &&
           !strcmp(history->paths[path].name, "optimizer");
}

static bool is_backward(const struct history *history, uint32_t path)
{
    return history->paths[path].source == PHASE_SOURCE_INFERRED &&
           !strcmp(history->paths[path].name, "backward");
}

static size_t ends_of_spans(uint32_t *ends, const struct history *history,
                            bool (*is_step)(const struct history *, uint32_t))
{
    size_t count = 0;

    for (size_t i = 0; i < history->span_count; i++)
        if (history->spans[i].end_index < history->event_count &&
            is_step(history, history->spans[i].path))
            ends[count++] = history->spans[i].end_index;
    return count;
}

/* The indices at which steps end, in order: STEP events, else phases named so, else inferred ones. */
static uint32_t *find_ends(const struct history *history, size_t *count, struct err *err)
{
    size_t most = history->step_count ? history->step_count : history->span_count;
    uint32_t *ends = array_new(most, sizeof *ends, err);

    *count = 0;
    if (!ends)
        return NULL;
    for (size_t i = 0; i < history->step_count; i++)
        ends[(*count)++] = history->steps[i];
    if (!history->step_count)
        *count = ends_of_spans(ends, history, is_step_phase);
    if (!*count)
        *count = ends_of_spans(ends, history, is_optimizer);
    if (!*count)
        *count = ends_of_spans(ends, history, is_backward);
    qsort(ends, *count, sizeof *ends, compare_numbers);
    return ends;
}

static int note_change(struct tracker *tracker, const struct block *block, bool birth,
                       struct err *err)
{
    struct tracked *stack = &tracker->stacks[block->stack_id];
    uint32_t *grown;

    stack->live_bytes += birth ? block->size_bytes : -block->size_bytes;
    if (stack->dirty)
        return 0;
    grown = array_grow(tracker->dirty, &tracker->dirty_capacity, tracker->dirty_count,
                       sizeof *grown, err);
    if (!grown)
        return -1;
    tracker->dirty = grown;
    grown[tracker->dirty_count++] = block->stack_id;
    stack->dirty = true;
    return 0;
}

/* Looks only at sites that changed; the others neither rose nor fell. */
static void end_step(struct tracker *tracker, bool is_first)
{
    for (size_t i = 0; i < tracker->dirty_count; i++) {
        struct tracked *stack = &tracker->stacks[tracker->dirty[i]];

        stack->dirty = false;
        if (is_first) {
            stack->first_bytes = stack->live_bytes;
        } else {
            stack->rises_count += stack->live_bytes > stack->last_bytes;
            stack->fell |= stack->live_bytes < stack->last_bytes;
        }
        stack->last_bytes = stack->live_bytes;
    }
    tracker->dirty_count = 0;
}

static int follow(struct tracker *tracker, const struct history *history, uint32_t stock,
                  const uint32_t *ends, size_t ends_count, struct err *err)
{
    size_t change = 0;

    for (size_t end = 0; end < ends_count; end++) {
        for (; change < history->change_count && history->changes[change].event <= ends[end];
             change++) {
            const struct block *block = &history->blocks[history->changes[change].block];

            if (block->stock == stock &&
                note_change(tracker, block, history->changes[change].birth, err))
                return -1;
        }
        if (end >= WARM_UP_ENDS)
            end_step(tracker, end == WARM_UP_ENDS);
    }
    return 0;
}

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

        if (stack->fell || !stack->rises_count || stack->rises_count * 2 < intervals)
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

int growth_find(struct growth *growth, const struct history *history, uint32_t stock,
                struct err *err)
{
    struct tracker tracker = {0};
    size_t stack_limit = history->trace->frame_limit + 1; /* 0 is "no stack", also without frames */
    uint32_t *ends;
    int status = -1;

    *growth = (struct growth){0};
    ends = find_ends(history, &growth->ends_count, err);
    if (!ends)
        return -1;
    if (growth->ends_count < WARM_UP_ENDS + FEWEST_ENDS) {
        status = 0;
        goto out;
    }
    tracker.stacks = array_new(stack_limit, sizeof *tracker.stacks, err);
    if (tracker.stacks && !follow(&tracker, history, stock, ends, growth->ends_count, err))
        status = keep_growing(growth, &tracker, stack_limit, err);
out:
    if (status)
        growth_release(growth);
    free(tracker.stacks);
    free(tracker.dirty);
    free(ends);
    return status;
}

void growth_release(struct growth *growth)
{
    free(growth->items);
    *growth = (struct growth){0};
}
