/* SPDX-License-Identifier: MIT */
/* Finds the call stack that repeats; see site_period.h. */
#include "site_period.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/pair_map.h"
#include "analyzer/util/array.h"

enum { FEWEST_BIRTHS = 8, STEPS_CUT = 2 };

/* A call stack that repeats. */
struct repeating {
    const struct site_ends *site;
    uint32_t caller; /* frame that called the model; valid if is_of_model */
    bool is_of_model, is_in_sequence;
    uint64_t runs_count; /* calls of the model: births of its stack with the fewest births */
};

struct repetitions {
    struct repeating *items;
    size_t count, all_count; /* stacks at a steady pace, which come first; all, also in bursts */
    struct pair_map fewest;  /* by caller: number of the item with the fewest births */
};

static bool repeats(const struct site_ends *site, uint64_t tick_count)
{
    return site->stack_id && site->births_count >= FEWEST_BIRTHS &&
           (site->last_birth - site->first_birth) * 4 >= tick_count;
}

static bool has_pace(const struct site_ends *site)
{
    return site->longest_gap * (site->births_count - 1) <=
           3 * (site->last_birth - site->first_birth);
}

static bool repeats_steadily(const struct site_ends *site)
{
    return site->most_live_count * 4 <= site->births_count && has_pace(site);
}

/* --- calls of a model --- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && !strcmp(text + length - end_length, end);
}

/* "ViT.forward"; before Python 3.11 "forward". */
static bool is_forward(const char *function)
{
    return !strcmp(function, "forward") || ends_with(function, ".forward");
}

static void find_model(struct repeating *item, const struct trace *trace)
{
    uint32_t id = item->site->stack_id;

    for (; id && id < trace->frame_limit && trace->frames[id].present;
         id = trace->frames[id].parent_id) {
        const struct trace_frame *frame = &trace->frames[id];
        if (frame->kind != FRAME_PYTHON || frame->address >= trace->location_limit)
            continue;
        const struct trace_location *location = &trace->locations[frame->address];
        const char *function = trace_string(trace, location->function_id);
        if (!is_forward(function))
            continue;
        item->is_of_model = true;
        item->caller = frame->parent_id;
        item->is_in_sequence |=
            !strcmp(function, "Sequential.forward") ||
            (!strcmp(function, "forward") &&
             ends_with(trace_string(trace, location->file_id), "/nn/modules/container.py"));
    }
}

static int note_fewest(struct repetitions *all, uint32_t number, struct err *err)
{
    const struct repeating *item = &all->items[number];
    const uint32_t known = pair_map_get(&all->fewest, 0, item->caller);

    if (!item->is_of_model || (known != PAIR_MAP_NONE &&
                               all->items[known].site->births_count <= item->site->births_count))
        return 0;
    return pair_map_put(&all->fewest, 0, item->caller, number, err);
}

static void add_items(struct repetitions *all, const struct account_ends *own,
                      const struct trace *trace, uint64_t tick_count, bool is_steady)
{
    for (size_t i = 0; i < own->count; i++) {
        const struct site_ends *site = &own->sites[i];
        if (!repeats(site, tick_count) || repeats_steadily(site) != is_steady)
            continue;
        all->items[all->all_count].site = site;
        find_model(&all->items[all->all_count++], trace);
    }
}

static int find_all(struct repetitions *all, const struct account_ends *own,
                    const struct trace *trace, uint64_t tick_count, struct err *err)
{
    all->items = array_new(own->count, sizeof *all->items, err);
    if (!all->items)
        return -1;
    add_items(all, own, trace, tick_count, true);
    all->count = all->all_count;
    add_items(all, own, trace, tick_count, false);
    for (uint32_t i = 0; i < all->count; i++)
        if (note_fewest(all, i, err))
            return -1;
    for (size_t i = 0; i < all->count; i++) {
        struct repeating *item = &all->items[i];
        item->runs_count = item->site->births_count;
        if (item->is_of_model)
            item->runs_count =
                all->items[pair_map_get(&all->fewest, 0, item->caller)].site->births_count;
    }
    return 0;
}

/* --- the number of steps --- */

static int compare_counts(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* The most frequent value. If several values are equally frequent, the lowest of them. */
static uint64_t most_frequent(uint64_t *counts, size_t count)
{
    uint64_t found = 0;
    size_t most = 0;

    qsort(counts, count, sizeof *counts, compare_counts);
    for (size_t i = 0, run = 1; i < count; i++, run++) {
        if (i + 1 < count && counts[i + 1] == counts[i])
            continue;
        if (run > most) {
            most = run;
            found = counts[i];
        }
        run = 0;
    }
    return found;
}

static const struct repeating *first_of(const struct repetitions *all, uint64_t steps)
{
    const struct repeating *found = NULL;

    for (size_t i = 0; i < all->count; i++) {
        const struct repeating *item = &all->items[i];
        if (item->runs_count == steps && item->site->births_count == steps &&
            (!found || item->site->first_birth < found->site->first_birth))
            found = item;
    }
    return found;
}

/* True if `births` is nearly a multiple of `steps`. It need not be exact, because the run may begin
 * or end within a step. */
static bool is_multiple(uint64_t births, uint64_t steps)
{
    const uint64_t each = (births + steps / 2) / steps, whole = each * steps;

    return (births > whole ? births - whole : whole - births) <= STEPS_CUT * each;
}

static uint64_t mean_gap(const struct site_ends *site)
{
    return (site->last_birth - site->first_birth) / (site->births_count - 1) + 1;
}

/* True if `site` allocates over the whole time of `other`, give or take two steps. This is false if
 * `other` is a single forward with many layers, and `site` makes weights before it or gradients
 * after it. */
static bool is_made_beside(const struct site_ends *site, const struct site_ends *other)
{
    const uint64_t own = mean_gap(site), its = mean_gap(other),
                   cut = STEPS_CUT * (own > its ? own : its);

    return site->first_birth <= other->first_birth + cut &&
           site->last_birth + cut >= other->last_birth;
}

/* True if a site outside the model, such as a batch, allocates once for each call of the model. */
static bool is_fed(const struct repetitions *all, const struct repeating *chosen)
{
    const uint64_t steps = chosen->site->births_count;

    for (size_t i = 0; chosen->is_of_model && i < all->all_count; i++) {
        const struct repeating *item = &all->items[i];
        const uint64_t births = item->site->births_count;
        if (!item->is_of_model && births + STEPS_CUT >= steps && births <= steps + STEPS_CUT &&
            is_made_beside(item->site, chosen->site))
            return true;
    }
    return false;
}

static bool tells_steps(const struct repetitions *all, const struct repeating *chosen, bool is_pool)
{
    const uint64_t steps = chosen->site->births_count;
    bool has_more = false;

    for (size_t i = 0; i < all->all_count; i++) {
        const struct repeating *item = &all->items[i];
        const uint64_t births = item->site->births_count;
        const bool is_beside = item->is_of_model && item->caller == chosen->caller;
        if (i < all->count && chosen->is_of_model && is_beside && !is_multiple(births, steps))
            return false;
        has_more |= (is_beside || !chosen->is_of_model) && births > steps + STEPS_CUT &&
                    is_multiple(births, steps);
    }
    return has_more || (!chosen->is_in_sequence && (!is_pool || is_fed(all, chosen)));
}

/* The stack with the fewest births, if the births of all other stacks are multiples of its births.
 * NULL: there is no such stack. */
static const struct repeating *find_outermost(const struct repetitions *all)
{
    const struct repeating *found = &all->items[0];
    bool has_more = false;

    for (size_t i = 1; i < all->count; i++)
        if (all->items[i].runs_count < found->runs_count)
            found = &all->items[i];
    found = first_of(all, found->runs_count);
    for (size_t i = 0; found && i < all->all_count; i++) {
        const uint64_t births = all->items[i].site->births_count;
        const bool is_several = is_multiple(births, found->runs_count);
        if (i < all->count && !is_several)
            return NULL;
        has_more |= is_several && births > found->runs_count + STEPS_CUT;
    }
    return has_more ? found : NULL;
}

/* counts: how often each of the stacks repeats; this function sorts it. */
static const struct repeating *find_steady(const struct repetitions *all, uint64_t *counts,
                                           bool is_pool)
{
    if (!all->count)
        return NULL;
    const struct repeating *chosen = first_of(all, most_frequent(counts, all->count));
    return chosen && tells_steps(all, chosen, is_pool) ? chosen : find_outermost(all);
}

/* --- a model that keeps all that it allocates --- */

/* True if there is a model, and the births of each of its sites are a multiple of batch's births,
 * over the same time. */
static bool goes_with_models(const struct repetitions *all, const struct repeating *batch)
{
    bool has_model = false;

    for (size_t i = 0; i < all->all_count; i++) {
        if (!all->items[i].is_of_model)
            continue;
        has_model = true;
        if (!is_multiple(all->items[i].site->births_count, batch->site->births_count) ||
            !is_made_beside(batch->site, all->items[i].site))
            return false;
    }
    return has_model;
}

/* The stack with the fewest births that may be a batch. */
static const struct repeating *find_batch(const struct repetitions *all)
{
    const struct repeating *found = NULL;

    for (size_t i = 0; i < all->all_count; i++) {
        const struct repeating *item = &all->items[i];
        if (!item->is_of_model && !item->site->graph_births_count && has_pace(item->site) &&
            (!found || item->site->births_count < found->site->births_count) &&
            goes_with_models(all, item))
            found = item;
    }
    return found;
}

int site_period_find(struct site_period *period, const struct account_ends *own,
                     const struct trace *trace, uint64_t tick_count, struct err *err)
{
    struct repetitions all = {0};
    uint64_t *counts = array_new(own->count, sizeof *counts, err);
    const int status = counts ? find_all(&all, own, trace, tick_count, err) : -1;

    *period = (struct site_period){0};
    for (size_t i = 0; !status && i < all.count; i++)
        counts[i] = all.items[i].runs_count;
    if (!status) {
        const struct repeating *chosen = find_steady(&all, counts, own->is_pool);
        const struct repeating *batch = chosen ? NULL : find_batch(&all);
        if (chosen)
            *period = (struct site_period){chosen->site, is_fed(&all, chosen)};
        else if (batch)
            *period = (struct site_period){batch->site, true};
    }
    free(counts);
    free(all.items);
    pair_map_release(&all.fewest);
    return status;
}
