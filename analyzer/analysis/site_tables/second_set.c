/* SPDX-License-Identifier: MIT */
/* Sets of parameters of which only one is trained; see second_set.h. */
#include "second_set.h"

#include <stdlib.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/thresholds/thresholds.h"
#include "analyzer/util/array.h"

struct parameter {
    uint32_t path;
    uint64_t size_bytes, begin_index;
};

struct looked {
    const struct call_paths *paths;
    struct parameter *items;
    size_t count, capacity;
    uint64_t bytes, live_bytes;
    struct pair_map counts;   /* (0, size): gradients */
    bool is_over;             /* a backward is: an optimizer made a state after it */
    bool repeats, is_new_way; /* a forward ran before; another never did */
};

/* Returns one size for tensors of the same shape. A large block of PyTorch's pool may have up to
 * 1 MiB that its tensor does not need. */
static uint64_t alike_size(uint64_t size_bytes)
{
    enum { SMALL_BYTES = 1 << 20, LARGE_UNIT_BYTES = 2 << 20 };
    return size_bytes <= SMALL_BYTES
               ? size_bytes
               : (size_bytes + LARGE_UNIT_BYTES - 1) / LARGE_UNIT_BYTES * LARGE_UNIT_BYTES;
}

static int count_more(struct pair_map *counts, uint32_t of, uint64_t size_bytes, uint32_t more,
                      struct err *err)
{
    const uint64_t size = alike_size(size_bytes);
    const uint32_t count = pair_map_get(counts, of, size);
    return pair_map_put(counts, of, size, (count == PAIR_MAP_NONE ? 0 : count) + more, err);
}

/* --- what is live --- */

/* Notes whether the activation's stack ran in an earlier round too. A round is counted when its
 * backward begins, so that the forward of the next round follows the whole backward. */
static void note_round(struct looked *looked, const struct history *history,
                       const struct block *activation)
{
    const uint32_t stack_id = site_stack(activation->site_id);
    if (!stack_id || stack_id >= history->stack_count || !activation->birth_round)
        return;
    if (history->stacks[stack_id].first_round < activation->birth_round)
        looked->repeats = true;
    else
        looked->is_new_way = true;
}

static int look_at(struct looked *looked, const struct categories *categories,
                   const struct block *block, const struct blame *blame, struct err *err)
{
    const enum category category = categories_of(categories, block);
    const uint32_t path = blame_of(blame, block->site_id)->path;
    looked->live_bytes += block->size_bytes;
    if (category == CATEGORY_optimizer)
        looked->is_over = true;
    if (category == CATEGORY_activations)
        note_round(looked, categories->history, block);
    if (category != CATEGORY_parameters)
        return 0;
    looked->bytes += block->size_bytes;
    if (path == CALL_PATH_NONE)
        return 0;
    if (ARRAY_GROW(looked->items, looked->capacity, looked->count, err))
        return -1;
    looked->items[looked->count++] =
        (struct parameter){path, block->size_bytes, block->life.begin_index};
    return 0;
}

/* --- which tensors are trained --- */

/* True if several lines of the program call backward. Two models that are trained in turn may never
 * have gradients at the same time. */
static bool has_several_backwards(const struct backwards *backwards)
{
    const uint32_t kept = backwards->count < BACKWARDS_KEPT ? backwards->count : BACKWARDS_KEPT;
    for (uint32_t i = 0; i < kept; i++)
        if (backwards->calls[(backwards->count - i) % BACKWARDS_KEPT].stack_id !=
            backwards->calls[backwards->count % BACKWARDS_KEPT].stack_id)
            return true;
    return false;
}

/*
 * True if a whole backward is over: a second one began, or the optimizer's step or the next forward
 * did. A forward on lines that never ran before may be of a model whose turn comes only now.
 */
static bool gradients_are_whole(const struct looked *looked, const struct history *history)
{
    return (history->rounds_count > 1 || looked->is_over || looked->repeats) &&
           !looked->is_new_way && !has_several_backwards(&history->backwards);
}

/* Counts by size the gradients that were live at once at any time of the run. */
static int count_gradients(struct looked *looked, const struct history *history, struct err *err)
{
    for (size_t i = 0; i < history->sizes.capacity; i++) {
        const struct pair_slot *slot = &history->sizes.slots[i];
        if (slot->value != PAIR_MAP_NONE && slot->first == SIZE_OF_GRADIENT &&
            count_more(&looked->counts, 0, slot->second, slot->value, err))
            return -1;
    }
    return 0;
}

/* --- sets --- */

/* The blocks of a line: those of its callees, too, if it is whole, or else only its own. */
struct set {
    uint32_t path;
    bool is_whole;
    uint32_t depth;
    uint64_t bytes, begin_index;
    uint32_t count;
};

static bool is_below(const struct frame_tree *tree, uint32_t path, uint32_t outer)
{
    while (path != CALL_PATH_NONE && path != outer)
        path = tree->nodes[path].outer;
    return path == outer;
}

static bool set_has(const struct looked *looked, const struct set *set, uint32_t path)
{
    return set->is_whole ? is_below(&looked->paths->tree, path, set->path) : path == set->path;
}

static bool are_apart(const struct looked *looked, const struct set *a, const struct set *b)
{
    return !set_has(looked, a, b->path) && !set_has(looked, b, a->path);
}

static void add_to_set(struct set *set, const struct parameter *parameter)
{
    if (!set->bytes || parameter->begin_index < set->begin_index)
        set->begin_index = parameter->begin_index;
    set->bytes += parameter->size_bytes;
    set->count++;
}

/* Keeps the sets with enough bytes whose line made nothing else. A helper that makes parts of both
 * sets names neither. Returns their number, or -1. */
static long keep_sets(struct set *sets, size_t count, const struct looked *looked, struct err *err)
{
    const struct frame_node *nodes = looked->paths->tree.nodes;
    uint64_t *line_bytes = array_new(2 * looked->paths->place_count, sizeof *line_bytes, err);
    long kept = 0;
    if (!line_bytes)
        return -1;
    for (size_t i = 0; i < count; i++)
        line_bytes[2 * nodes[sets[i].path].frame + sets[i].is_whole] += sets[i].bytes;
    for (size_t i = 0; i < count; i++)
        if (sets[i].count >= SET_FEWEST &&
            sets[i].bytes >= looked->bytes / SET_OF_PARAMETERS_DIVISOR &&
            sets[i].bytes > looked->live_bytes / SET_OF_LIVE_DIVISOR &&
            line_bytes[2 * nodes[sets[i].path].frame + sets[i].is_whole] == sets[i].bytes)
            sets[kept++] = sets[i];
    free(line_bytes);
    return kept;
}

/* Fills two sets for each path, and keeps some. Returns their number, or -1. */
static long find_sets(struct set **sets, const struct looked *looked, struct err *err)
{
    const struct frame_node *nodes = looked->paths->tree.nodes;
    *sets = array_new(2 * looked->paths->tree.count, sizeof **sets, err);
    if (!*sets)
        return -1;
    for (uint32_t i = 0; i < looked->paths->tree.count; i++) {
        const uint32_t outer = nodes[i].outer;
        const uint32_t depth = outer == CALL_PATH_NONE ? 0 : (*sets)[2 * outer].depth + 1;
        (*sets)[2 * i] = (struct set){.path = i, .is_whole = true, .depth = depth};
        (*sets)[2 * i + 1] = (struct set){.path = i, .depth = depth};
    }
    for (size_t i = 0; i < looked->count; i++) {
        const struct parameter *parameter = &looked->items[i];
        add_to_set(&(*sets)[2 * parameter->path + 1], parameter);
        for (uint32_t at = parameter->path; at != CALL_PATH_NONE; at = nodes[at].outer)
            add_to_set(&(*sets)[2 * at], parameter);
    }
    return keep_sets(*sets, 2 * looked->paths->tree.count, looked, err);
}

static bool are_alike(uint64_t a, uint64_t b)
{
    const uint64_t larger = a > b ? a : b, smaller = a > b ? b : a;
    return larger - smaller <= larger / UNLIKE_SETS_DIVISOR;
}

/* Returns 1 if the two sets have tensors of like sizes, and there are gradients of as many tensors
 * as one of them has. */
static int is_one_trained(const struct looked *looked, const struct set *a, const struct set *b,
                          struct err *err)
{
    struct pair_map sizes = {0}; /* (0, size): tensors of a; (1, size): tensors of both */
    uint64_t common_bytes = 0, trained_bytes = 0;
    int status = 0;
    for (size_t i = 0; i < looked->count && !status; i++)
        if (set_has(looked, a, looked->items[i].path))
            status = count_more(&sizes, 0, looked->items[i].size_bytes, 1, err);
    for (size_t i = 0; i < looked->count && !status; i++) {
        const uint64_t size_bytes = looked->items[i].size_bytes, size = alike_size(size_bytes);
        const bool is_of_b = set_has(looked, b, looked->items[i].path);
        if (!is_of_b && !set_has(looked, a, looked->items[i].path))
            continue;
        const uint32_t of_a = pair_map_get(&sizes, 0, size);
        const uint32_t seen = pair_map_get(&sizes, 1, size);
        const uint32_t trained = pair_map_get(&looked->counts, 0, size);
        if (trained != PAIR_MAP_NONE && (seen == PAIR_MAP_NONE ? 0 : seen) < trained)
            trained_bytes += size_bytes;
        status = count_more(&sizes, 1, size_bytes, 1, err);
        if (!is_of_b || of_a == PAIR_MAP_NONE || !of_a || status)
            continue;
        common_bytes += size_bytes;
        status = pair_map_put(&sizes, 0, size, of_a - 1, err);
    }
    pair_map_release(&sizes);
    return status ? -1
                  : are_alike(common_bytes, a->bytes) && are_alike(common_bytes, b->bytes) &&
                        are_alike(trained_bytes, common_bytes);
}

/* True if these two sets say more than the best two so far: more bytes, or lines further inside. */
static bool is_better(const struct set *a, const struct set *b, const struct set *best_a,
                      const struct set *best_b)
{
    const uint64_t bytes = a->bytes + b->bytes, best_bytes = best_a->bytes + best_b->bytes;
    return bytes != best_bytes ? bytes > best_bytes
                               : a->depth + b->depth > best_a->depth + best_b->depth;
}

/* --- several sets --- */

struct alike_sets {
    struct set items[SECOND_SETS_MOST]; /* the first two are the best two */
    size_t count;
};

static int find_two(struct alike_sets *found, const struct looked *looked, const struct set *sets,
                    long count, struct err *err)
{
    struct set *const best = found->items;
    int status = 0;
    for (long i = 0; i < count && status >= 0; i++)
        for (long j = i + 1; j < count && status >= 0; j++) {
            const struct set *a = &sets[i], *b = &sets[j];
            if (!are_alike(a->bytes, b->bytes) || !are_apart(looked, a, b) ||
                !is_better(a, b, &best[0], &best[1]))
                continue;
            status = is_one_trained(looked, a, b, err);
            if (status <= 0)
                continue;
            best[0] = *a;
            best[1] = *b;
            found->count = 2;
        }
    return status < 0 ? -1 : 0;
}

/* Returns 1 if the set is one more beside those that were found. */
static int is_one_more(const struct alike_sets *found, const struct looked *looked,
                       const struct set *set, struct err *err)
{
    for (size_t i = 0; i < found->count; i++)
        if (!are_alike(found->items[i].bytes, set->bytes) ||
            !are_apart(looked, &found->items[i], set))
            return 0;
    return is_one_trained(looked, &found->items[0], set, err);
}

/* Adds the set that lies furthest inside. Returns 1 if it added one. */
static int add_one(struct alike_sets *found, const struct looked *looked, const struct set *sets,
                   long count, struct err *err)
{
    const struct set *best = NULL;
    int status = 0;
    for (long i = 0; i < count && status >= 0; i++) {
        if (best && sets[i].depth <= best->depth)
            continue;
        status = is_one_more(found, looked, &sets[i], err);
        if (status > 0)
            best = &sets[i];
    }
    if (status < 0 || !best)
        return status < 0 ? -1 : 0;
    found->items[found->count++] = *best;
    return 1;
}

ORDER_BY(compare_begins, struct set, RISING(begin_index));

static int find_alike(struct alike_sets *found, const struct looked *looked, struct err *err)
{
    struct set *sets;
    const long count = find_sets(&sets, looked, err);
    int status = count < 0 ? -1 : find_two(found, looked, sets, count, err);
    bool goes_on = !status && found->count;
    while (goes_on && found->count < SECOND_SETS_MOST) {
        status = add_one(found, looked, sets, count, err);
        goes_on = status > 0;
    }
    free(sets);
    SORT(found->items, found->count, compare_begins);
    return status < 0 ? -1 : 0;
}

static bool sets_have(const struct alike_sets *found, const struct looked *looked, uint32_t path)
{
    for (size_t i = 0; i < found->count; i++)
        if (set_has(looked, &found->items[i], path))
            return true;
    return false;
}

/* Returns 1 if the parameters outside the sets have too few tensors of the gradients' sizes to be
 * the trained ones. */
static int has_trained(const struct alike_sets *found, const struct looked *looked, struct err *err)
{
    struct pair_map sizes = {0}; /* (0, size): tensors outside */
    uint64_t outside_bytes = 0;
    int status = 0;
    for (size_t i = 0; i < looked->count && !status; i++) {
        const uint64_t size_bytes = looked->items[i].size_bytes, size = alike_size(size_bytes);
        if (sets_have(found, looked, looked->items[i].path))
            continue;
        const uint32_t seen = pair_map_get(&sizes, 0, size);
        const uint32_t trained = pair_map_get(&looked->counts, 0, size);
        if (trained != PAIR_MAP_NONE && (seen == PAIR_MAP_NONE ? 0 : seen) < trained)
            outside_bytes += size_bytes;
        status = count_more(&sizes, 0, size_bytes, 1, err);
    }
    pair_map_release(&sizes);
    return status ? -1 : outside_bytes <= found->items[0].bytes / UNLIKE_SETS_DIVISOR;
}

static int tell(struct second_set *told, const struct alike_sets *found,
                const struct looked *looked, struct err *err)
{
    const int trained = has_trained(found, looked, err);
    if (trained < 0)
        return -1;
    *told = (struct second_set){.count = found->count, .has_trained = trained};
    for (size_t i = 0; i < found->count; i++)
        told->sets[i] = (struct parameter_set){
            found->items[i].bytes, call_path_place(looked->paths, found->items[i].path)->text};
    return 1;
}

int second_set_find(struct second_set *told, const struct categories *categories, uint32_t account,
                    uint64_t index, const struct blame *blame, struct err *err)
{
    struct looked looked = {.paths = &blame->paths};
    struct live_walk walk = live_walk_begin(categories->history, account, index);
    const struct block *block;
    struct alike_sets found = {0};
    int status = 0;
    while (!status && (block = live_walk_next(&walk)))
        if (block->memory == MEMORY_TENSOR)
            status = look_at(&looked, categories, block, blame, err);
    if (!status && looked.count && gradients_are_whole(&looked, categories->history))
        status =
            count_gradients(&looked, categories->history, err) || find_alike(&found, &looked, err)
                ? -1
                : 0;
    if (!status && found.count)
        status = tell(told, &found, &looked, err);
    pair_map_release(&looked.counts);
    free(looked.items);
    return status;
}
