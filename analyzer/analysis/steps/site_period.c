/* SPDX-License-Identifier: MIT */
/* Finds the rounds of a program that marks no steps; see site_period.h. */
#include "site_period.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/thresholds/thresholds.h"
#include "analyzer/util/array.h"
#include "analyzer/symbol/frame_tree.h"
#include "gpumemtrace/limits.h"

/* A node of the tree of call stacks has these figures. Node 0 is the root. */
struct line {
    uint64_t births_count, weight, entries_count; /* births and weight below it */
    uint64_t first_birth, last_birth;             /* below it; see struct site_ends */
    bool is_forward, is_init;
    bool calls_model; /* it or a line below it is a forward */
    uint32_t seen;    /* number of the last walk that came here */
};

struct lines {
    const struct account_ends *own;
    const struct trace *trace;
    struct line *items;
    size_t count, capacity;
    struct frame_tree tree;
    uint32_t *leaves; /* by site: its node, where it allocates */
    uint32_t walk_count;
    uint64_t *counts;         /* by node; scratch */
    uint64_t *usual[2];       /* by node; see find_usual() */
    struct birth_pair *pairs; /* scratch for find_usual() */
    uint64_t work_count;      /* nodes and pairs looked at for the order */
};

/* The node that has rounds, and its child that begins them. */
struct rounds {
    uint32_t node, begin;
    uint64_t count; /* 0: none */
};

/* --- the tree --- */

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

/* "Block.__init__", "Block.__init__.<locals>.<genexpr>" */
static bool is_init(const char *function)
{
    const char *found = strstr(function, "__init__");
    return found && (found == function || found[-1] == '.') &&
           (!found[strlen("__init__")] || found[strlen("__init__")] == '.');
}

static const char *function_of(const struct trace *trace, const struct trace_frame *frame)
{
    return frame->kind == FRAME_PYTHON && frame->address < trace->location_limit
               ? trace_string(trace, trace->locations[frame->address].function_id)
               : "";
}

static uint32_t find_line(struct lines *lines, uint32_t parent, uint64_t key, const char *function,
                          struct err *err)
{
    const uint32_t number = frame_tree_add(&lines->tree, parent, key, err);
    if (number < lines->count || number == FRAME_TREE_NONE)
        return number;
    if (ARRAY_REACH(lines->items, lines->capacity, lines->count, number, err))
        return FRAME_TREE_NONE;
    lines->items[number].is_forward = is_forward(function);
    lines->items[number].is_init = is_init(function);
    return number;
}

static const struct trace_frame *frame_of(const struct trace *trace, uint32_t id)
{
    return id && id < trace->frame_limit && trace->frames[id].present ? &trace->frames[id] : NULL;
}

/* Adds the nodes of a stack. Native frames count only in a stack that has no others. A function
 * that calls itself from one line counts once. */
static int add_stack(struct lines *lines, uint32_t *leaf, uint32_t stack_id, uint32_t *frames,
                     struct err *err)
{
    enum { OWN_KIND = 3 };
    const struct trace_frame *frame;
    const uint32_t limit = lines->trace->frame_limit;
    /* Parents form a loop in a broken file. */
    const uint32_t most = limit < LIMIT_stack_frames ? limit : LIMIT_stack_frames;
    uint32_t depth = 0;
    bool has_names = false;
    size_t count = 0;
    uint32_t node = 0;

    for (uint32_t id = stack_id; depth < most && (frame = frame_of(lines->trace, id)); depth++) {
        has_names |= frame->kind != FRAME_NATIVE;
        id = frame->parent_id;
    }
    for (uint32_t id = stack_id; depth-- > 0; id = lines->trace->frames[id].parent_id)
        if (!has_names || lines->trace->frames[id].kind != FRAME_NATIVE)
            frames[count++] = id;
    for (size_t i = count; i-- > 0;) {
        frame = &lines->trace->frames[frames[i]];
        const uint64_t key = frame->address << 2 | frame->kind;
        if (node && lines->tree.nodes[node].frame == key)
            continue;
        node = find_line(lines, node, key, function_of(lines->trace, frame), err);
        if (node == FRAME_TREE_NONE)
            return -1;
    }
    *leaf = count ? find_line(lines, node, OWN_KIND, "", err) : 0;
    return *leaf == FRAME_TREE_NONE ? -1 : 0;
}

static int add_stacks(struct lines *lines, struct err *err)
{
    uint32_t *frames = array_new(lines->trace->frame_limit, sizeof *frames, err);
    int status = frames && find_line(lines, FRAME_TREE_NONE, 0, "", err) == 0 ? 0 : -1;
    for (size_t i = 0; i < lines->own->count && !status; i++)
        status = add_stack(lines, &lines->leaves[i], site_stack(lines->own->sites[i].site_id),
                           frames, err);
    free(frames);
    return status;
}

/* --- what counts --- */

/* True if `above` is 0, or is the node or above it. */
static bool is_below(const struct lines *lines, uint32_t node, uint32_t above)
{
    while (node && node != above)
        node = lines->tree.nodes[node].outer;
    return node == above;
}

static bool only_rises(const struct site_ends *site)
{
    const struct rising *sizes = &site->blocks.sizes;
    return !sizes->falls_count && sizes->rises_count >= RISES_FEWEST &&
           UINT64_C(2) * sizes->rises_count >= site->blocks.births_count;
}

static uint64_t weigh(const struct lines *lines, size_t number, bool is_of_growing)
{
    const struct site_ends *site = &lines->own->sites[number];
    bool is_in_forward = false, is_in_init = false;
    for (uint32_t node = lines->leaves[number]; node; node = lines->tree.nodes[node].outer) {
        is_in_forward |= lines->items[node].is_forward;
        is_in_init |= lines->items[node].is_init;
    }
    if (is_in_init || site->blocks.births_count < 2)
        return 0;
    return (is_of_growing
                ? only_rises(site)
                : is_in_forward || site->blocks.most_live_count < site->blocks.births_count)
               ? site->blocks.births_count
               : 0;
}

static void widen(struct line *line, const struct site_ends *site, bool is_first)
{
    if (is_first || site->first_birth < line->first_birth)
        line->first_birth = site->first_birth;
    if (site->last_birth > line->last_birth)
        line->last_birth = site->last_birth;
}

static void add_weights(struct lines *lines, bool is_of_growing)
{
    for (size_t i = 0; i < lines->own->count; i++) {
        const uint64_t weight = weigh(lines, i, is_of_growing);
        uint32_t node = lines->leaves[i];
        if (weight)
            widen(&lines->items[0], &lines->own->sites[i], !lines->items[0].weight);
        lines->items[0].weight += weight;
        for (; node; node = lines->tree.nodes[node].outer)
            lines->items[node].weight += weight;
    }
}

static void add_births(struct lines *lines)
{
    for (size_t i = 0; i < lines->own->count; i++) {
        const struct site_ends *site = &lines->own->sites[i];
        const uint64_t count = site->blocks.births_count;
        bool calls_model = false;
        lines->items[0].births_count += count;
        for (uint32_t node = lines->leaves[i]; node; node = lines->tree.nodes[node].outer) {
            calls_model |= lines->items[node].is_forward;
            lines->items[node].calls_model |= calls_model;
            widen(&lines->items[node], site, !lines->items[node].births_count);
            lines->items[node].births_count += count;
        }
        lines->items[0].calls_model |= calls_model;
    }
}

/* Counts an entry for each node above `to` that is not above `from`. */
static void enter(struct lines *lines, uint32_t from, uint32_t to, uint64_t count)
{
    struct line *items = lines->items;
    lines->walk_count++;
    for (uint32_t node = from; node; node = lines->tree.nodes[node].outer)
        items[node].seen = lines->walk_count;
    for (uint32_t node = to; node && items[node].seen != lines->walk_count;
         node = lines->tree.nodes[node].outer)
        items[node].entries_count += count;
}

static void add_entries(struct lines *lines)
{
    const struct account_ends *own = lines->own;
    if (own->count)
        enter(lines, 0, lines->leaves[0], 1);
    for (size_t i = 0; i < own->pair_count; i++)
        enter(lines, lines->leaves[own->pairs[i].from], lines->leaves[own->pairs[i].to],
              own->pairs[i].count);
}

/* --- rounds --- */

/* Give or take one, because a run may begin and end within a round. */
static bool is_near(uint64_t entries, uint64_t count)
{
    return entries + 1 >= count && entries <= count + 1;
}

/* True if the child is entered over a good part of the run. */
static bool spans(const struct lines *lines, uint32_t child)
{
    const struct line *line = &lines->items[child], *all = &lines->items[0];
    return (line->last_birth - line->first_birth) * ROUNDS_SPAN_DIVISOR >=
           all->last_birth - all->first_birth;
}

/* True if each of `count` rounds enters the child. */
static bool is_of_rounds(const struct lines *lines, uint32_t child, uint64_t count)
{
    return is_near(lines->items[child].entries_count, count) && spans(lines, child);
}

ORDER_BY(compare_counts, uint64_t, ORDER(*a, *b));

/* The number of entries, at least ROUNDS_FEWEST, that most children of the node have, give or take
 * one; the lowest of several. 0: no two children have it. */
static uint64_t find_common(struct lines *lines, uint32_t node)
{
    uint64_t *counts = lines->counts, common = 0;
    size_t count = 0, most = 1;
    for (uint32_t n = lines->tree.nodes[node].first; n; n = lines->tree.nodes[n].next)
        if (spans(lines, n))
            counts[count++] = lines->items[n].entries_count;
    SORT(counts, count, compare_counts);
    lines->work_count += count;
    for (size_t i = 0, first = 0, end = 0; i < count; i++) {
        while (!is_near(counts[first], counts[i]))
            first++;
        while (end < count && counts[end] <= counts[i] + 1)
            end++;
        if (counts[i] >= ROUNDS_FEWEST && end - first > most) {
            most = end - first;
            common = counts[i];
        }
    }
    return common;
}

/* The child of `above` that the node is below; 0: none. */
static uint32_t child_above(const struct lines *lines, uint32_t node, uint32_t above)
{
    while (node && lines->tree.nodes[node].outer != above)
        node = lines->tree.nodes[node].outer;
    return node;
}

/* How often allocations below one child of a node came directly after those below another, or
 * outside the node (0). */
static void take_children(struct lines *lines, uint32_t node, bool is_after)
{
    const struct account_ends *own = lines->own;
    for (size_t i = 0; i < own->pair_count; i++) {
        const uint32_t from = child_above(lines, lines->leaves[own->pairs[i].from], node);
        const uint32_t to = child_above(lines, lines->leaves[own->pairs[i].to], node);
        lines->pairs[i] =
            (struct birth_pair){is_after ? from : to, is_after ? to : from, own->pairs[i].count};
    }
    lines->work_count += own->pair_count;
}

ORDER_BY(compare_pairs, struct birth_pair, RISING(from), RISING(to));

/* For each child of the node: how often it came after the same other child, at most, and how often
 * the same other child came after it. */
static void find_usual(struct lines *lines, uint32_t node)
{
    const size_t count = lines->own->pair_count;
    const struct birth_pair *pairs = lines->pairs;
    for (int is_after = 0; is_after < 2 && count; is_after++) {
        uint64_t *usual = lines->usual[is_after], sum = 0;
        take_children(lines, node, is_after);
        SORT(lines->pairs, count, compare_pairs);
        for (uint32_t n = lines->tree.nodes[node].first; n; n = lines->tree.nodes[n].next)
            usual[n] = 0;
        for (size_t i = 0; i < count; i++) {
            sum = i && !compare_pairs(&pairs[i - 1], &pairs[i]) ? sum + pairs[i].count
                                                                : pairs[i].count;
            if (pairs[i].from != pairs[i].to && sum > usual[pairs[i].from])
                usual[pairs[i].from] = sum;
        }
    }
}

/* True if each child that a round enters has its place in the order: in three of four rounds, give
 * or take one, the same child comes before it, or the same comes after it. */
static bool are_in_order(struct lines *lines, uint32_t node, uint64_t count)
{
    find_usual(lines, node);
    for (uint32_t n = lines->tree.nodes[node].first; n; n = lines->tree.nodes[n].next) {
        const uint64_t entries = lines->items[n].entries_count;
        if (is_of_rounds(lines, n, count) && 4 * (lines->usual[0][n] + 1) < 3 * entries &&
            4 * (lines->usual[1][n] + 1) < 3 * entries)
            return false;
    }
    return true;
}

static struct rounds rounds_at(struct lines *lines, uint32_t node)
{
    const struct line *items = lines->items;
    struct rounds rounds = {.node = node};
    if (!items[0].weight || items[node].weight * 2 < items[0].weight)
        return rounds;
    const uint64_t count = find_common(lines, node);
    if (!count || (lines->own->is_pool && items[node].births_count < POOL_BIRTHS_FEWEST * count) ||
        !are_in_order(lines, node, count))
        return rounds;
    rounds.begin = lines->tree.nodes[node].first;
    while (!is_of_rounds(lines, rounds.begin, count))
        rounds.begin = lines->tree.nodes[rounds.begin].next;
    rounds.count = items[rounds.begin].entries_count;
    return rounds;
}

/* True if all children of the node call models, or if any child is a forward. */
static bool calls_only_models(const struct lines *lines, uint32_t node)
{
    for (uint32_t n = lines->tree.nodes[node].first; n; n = lines->tree.nodes[n].next)
        if (!lines->items[n].calls_model)
            return false;
    return true;
}

static bool is_forwards_own(const struct lines *lines, uint32_t node)
{
    for (uint32_t n = lines->tree.nodes[node].first; n; n = lines->tree.nodes[n].next)
        if (lines->items[n].is_forward)
            return true;
    return false;
}

static bool is_better(const struct lines *lines, const struct rounds *rounds,
                      const struct rounds *found)
{
    return rounds->count &&
           (!found->count ||
            (rounds->count > found->count + 1 && lines->items[found->node].calls_model &&
             (!is_forwards_own(lines, rounds->node) || calls_only_models(lines, found->node))));
}

static uint32_t heaviest_child(const struct lines *lines, uint32_t node)
{
    uint32_t found = lines->tree.nodes[node].first;
    for (uint32_t n = found; n; n = lines->tree.nodes[n].next)
        if (lines->items[n].weight > lines->items[found].weight)
            found = n;
    return found;
}

/* Goes from the root to the child with most allocations, until a model's forward. */
static struct rounds find_rounds(struct lines *lines)
{
    struct rounds found = {0};
    uint32_t node = 0;
    do {
        const struct rounds rounds = rounds_at(lines, node);
        if (is_better(lines, &rounds, &found))
            found = rounds;
        node = heaviest_child(lines, node);
    } while (node && lines->items[node].weight && !lines->items[node].is_forward);
    return found;
}

/* --- the last round --- */

/* True if the last allocation is below the child that comes last in most rounds. Children that not
 * every round enters do not count. */
static bool is_last_whole(struct lines *lines, const struct rounds *rounds)
{
    const struct account_ends *own = lines->own;
    uint64_t last_birth = 0;
    uint32_t last = 0, usual = 0;
    take_children(lines, rounds->node, false);
    memset(lines->counts, 0, lines->count * sizeof *lines->counts);
    for (size_t i = 0; i < own->pair_count; i++)
        if (lines->pairs[i].from == rounds->begin && lines->pairs[i].to)
            lines->counts[lines->pairs[i].to] += lines->pairs[i].count;
    lines->counts[rounds->begin] = 0; /* only a change to it counts */
    for (uint32_t n = lines->tree.nodes[rounds->node].first; n; n = lines->tree.nodes[n].next)
        if (is_of_rounds(lines, n, rounds->count) && lines->counts[n] > lines->counts[usual])
            usual = n;
    for (size_t i = 0; i < own->count; i++) {
        const uint32_t child = child_above(lines, lines->leaves[i], rounds->node);
        if (child && is_of_rounds(lines, child, rounds->count) &&
            own->sites[i].last_birth >= last_birth) {
            last_birth = own->sites[i].last_birth;
            last = child;
        }
    }
    return usual && last == usual;
}

/* True if each round calls a model with something that is allocated outside models. */
static bool is_fed(const struct lines *lines, const struct rounds *rounds)
{
    bool has_model = false, has_other = false;
    for (uint32_t n = lines->tree.nodes[rounds->node].first; n; n = lines->tree.nodes[n].next)
        if (is_of_rounds(lines, n, rounds->count)) {
            has_model |= lines->items[n].calls_model;
            has_other |= !lines->items[n].calls_model;
        }
    return has_model && has_other;
}

static bool is_in_forward(const struct lines *lines, uint32_t node)
{
    while (node && !lines->items[node].is_forward)
        node = lines->tree.nodes[node].outer;
    return node;
}

static void take_rounds(struct step_period *period, struct lines *lines,
                        const struct rounds *rounds)
{
    const bool has_batch = is_fed(lines, rounds);
    for (size_t i = 0; i < lines->own->count; i++) {
        const struct site_ends *site = &lines->own->sites[i];
        const bool begins = is_below(lines, lines->leaves[i], rounds->begin);
        if (!is_below(lines, lines->leaves[i], rounds->node))
            continue;
        const bool is_of_model = has_batch && is_in_forward(lines, lines->leaves[i]);
        period->roles[site_stack(site->site_id)] =
            (unsigned char)(ROUND_PART | (begins ? ROUND_BEGINS : 0) |
                            (is_of_model ? ROUND_FED : 0));
        period->births_left += site->blocks.births_count;
        if (begins && !period->site_id)
            period->site_id = site->site_id;
    }
    period->is_last_whole = is_last_whole(lines, rounds);
}

/* --- blocks that are freed all at once --- */

/* True if the stack may tell rounds by its frees. In a program with a model, only forward's may. */
static bool may_drop(const struct lines *lines, size_t number)
{
    return !lines->items[0].calls_model || is_in_forward(lines, lines->leaves[number]);
}

/* The fewest births of such a stack that repeats. */
static uint64_t fewest_births(const struct lines *lines)
{
    uint64_t fewest = 0;
    for (size_t i = 0; i < lines->own->count; i++) {
        const uint64_t births = lines->own->sites[i].blocks.births_count;
        if (births >= ROUNDS_FEWEST && (!fewest || births < fewest) && may_drop(lines, i))
            fewest = births;
    }
    return fewest;
}

static void take_drops(struct step_period *period, const struct lines *lines)
{
    const uint64_t fewest = fewest_births(lines);
    const struct site_ends *found = NULL;
    for (size_t i = 0; i < lines->own->count; i++) {
        const struct site_ends *site = &lines->own->sites[i];
        if (site->turns_count >= ROUNDS_FEWEST &&
            fewest >= LAYER_CALLS_FEWEST * site->turns_count &&
            (!found || site->turns_count > found->turns_count) && may_drop(lines, i))
            found = site;
    }
    if (!found || !site_stack(found->site_id))
        return;
    period->roles[site_stack(found->site_id)] = ROUND_DROPS;
    period->site_id = found->site_id;
}

/* --- the entry --- */

static int find(struct step_period *period, struct lines *lines, struct err *err)
{
    if (add_stacks(lines, err))
        return -1;
    add_births(lines);
    add_weights(lines, false);
    if (!lines->items[0].weight)
        add_weights(lines, true);
    add_entries(lines);
    lines->counts = array_new(3 * lines->count, sizeof *lines->counts, err);
    lines->pairs = array_new(lines->own->pair_count, sizeof *lines->pairs, err);
    if (!lines->counts || !lines->pairs)
        return -1;
    lines->usual[0] = &lines->counts[lines->count];
    lines->usual[1] = &lines->counts[2 * lines->count];
    const struct rounds rounds = find_rounds(lines);
    if (rounds.count)
        take_rounds(period, lines, &rounds);
    else
        take_drops(period, lines);
    period->work_count = lines->work_count;
    return 0;
}

int site_period_find(struct step_period *period, const struct account_ends *own,
                     const struct trace *trace, struct err *err)
{
    struct lines lines = {.own = own, .trace = trace};
    *period = (struct step_period){0};
    if (!own->count || own->has_too_many_pairs)
        return 0;
    lines.leaves = array_new(own->count, sizeof *lines.leaves, err);
    period->role_count = trace->frame_limit + 1; /* 0 is "no stack" */
    period->roles = array_new(period->role_count, sizeof *period->roles, err);
    const int status = lines.leaves && period->roles ? find(period, &lines, err) : -1;
    if (status || !period->site_id)
        step_period_release(period);
    frame_tree_release(&lines.tree);
    free(lines.leaves);
    free(lines.counts);
    free(lines.pairs);
    free(lines.items);
    return status;
}
