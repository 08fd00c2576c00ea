/* SPDX-License-Identifier: MIT */
/* Two sets of parameters of which only one is trained; see second_set.h. */
#include "second_set.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/thresholds/thresholds.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"

struct parameter {
    uint32_t path;
    uint64_t size_bytes, begin_index;
};

/* The places of an optimizer that make states: Adam makes two states for each parameter, at two
 * lines. */
enum { STATE_LINES = 8 };
struct state_line {
    const char *file;
    uint32_t line;
    uint64_t bytes;
};

struct kind {
    uint64_t first_index, last_index; /* of births */
    uint32_t last_round;
    bool any;
};

struct looked {
    const struct call_paths *paths;
    struct parameter *items;
    size_t count, capacity;
    uint64_t bytes, live_bytes;
    struct state_line lines[STATE_LINES];
    struct pair_map counts; /* (0, size): gradients; (1 + line, size): states */
    struct kind activations, gradients, states;
    uint32_t last_round; /* of all blocks */
};

/* --- what is live --- */

static void note_birth(struct kind *kind, const struct block *block)
{
    const uint64_t index = block->life.begin_index;

    if (!kind->any || index < kind->first_index)
        kind->first_index = index;
    if (!kind->any || index > kind->last_index)
        kind->last_index = index;
    if (!kind->any || block->birth_round > kind->last_round)
        kind->last_round = block->birth_round;
    kind->any = true;
}

/* Returns one size for tensors of the same shape. A large block of PyTorch's pool may have up to
 * 1 MiB that its tensor does not need. */
static uint64_t alike_size(uint64_t size_bytes)
{
    enum { SMALL_BYTES = 1 << 20, LARGE_UNIT_BYTES = 2 << 20 };
    return size_bytes <= SMALL_BYTES
               ? size_bytes
               : (size_bytes + LARGE_UNIT_BYTES - 1) / LARGE_UNIT_BYTES * LARGE_UNIT_BYTES;
}

static int count_one(struct pair_map *counts, uint32_t of, uint64_t size_bytes, struct err *err)
{
    const uint64_t size = alike_size(size_bytes);
    const uint32_t count = pair_map_get(counts, of, size);
    return pair_map_put(counts, of, size, count == PAIR_MAP_NONE ? 1 : count + 1, err);
}

/* Returns the number of the optimizer's line that made the state; STATE_LINES: unknown; -1: out of
 * memory. */
static int line_of_state(struct looked *looked, const struct categories *categories,
                         const struct block *block, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(categories->symbols, site_stack(block->site_id));
    struct symbol_frame frame;
    int status, i = 0;

    while ((status = symbols_walk_next(&walk, &frame, err)) > 0)
        if (frame.line && frame.file && torch_is(frame.means, TORCH_optimizer))
            break;
    if (status <= 0)
        return status < 0 ? -1 : STATE_LINES;
    for (; i < STATE_LINES && looked->lines[i].line; i++)
        if (looked->lines[i].line == frame.line && !strcmp(looked->lines[i].file, frame.file))
            break;
    if (i == STATE_LINES)
        return STATE_LINES;
    looked->lines[i].file = frame.file;
    looked->lines[i].line = frame.line;
    looked->lines[i].bytes += block->size_bytes;
    return i;
}

static int look_at(struct looked *looked, const struct categories *categories,
                   const struct block *block, const struct blame *blame, struct err *err)
{
    const uint32_t path = blame_of(blame, block->site_id)->path;
    int line;

    looked->live_bytes += block->size_bytes;
    if (block->birth_round > looked->last_round)
        looked->last_round = block->birth_round;
    switch (categories_of(categories, block)) {
    case CATEGORY_parameters:
        looked->bytes += block->size_bytes;
        if (path == CALL_PATH_NONE)
            return 0;
        if (ARRAY_GROW(looked->items, looked->capacity, looked->count, err))
            return -1;
        looked->items[looked->count++] =
            (struct parameter){path, block->size_bytes, block->life.begin_index};
        return 0;
    case CATEGORY_activations:
        note_birth(&looked->activations, block);
        return 0;
    case CATEGORY_gradients:
        note_birth(&looked->gradients, block);
        return count_one(&looked->counts, 0, block->size_bytes, err);
    case CATEGORY_optimizer:
        note_birth(&looked->states, block);
        line = line_of_state(looked, categories, block, err);
        if (line < 0 || line == STATE_LINES)
            return line < 0 ? -1 : 0;
        return count_one(&looked->counts, (uint32_t)line + 1, block->size_bytes, err);
    default:
        return 0;
    }
}

/* --- which counts are whole --- */

/* Returns what to count: 0 for gradients, 1 + line for states, or PAIR_MAP_NONE. States are whole
 * if a forward or a backward began after the last one. Gradients are whole if a forward or the
 * optimizer's first step did. */
static uint32_t find_evidence(const struct looked *looked)
{
    const struct kind *states = &looked->states, *gradients = &looked->gradients;
    const struct kind *activations = &looked->activations;
    uint32_t most = 0;

    for (uint32_t i = 1; i < STATE_LINES; i++)
        if (looked->lines[i].bytes > looked->lines[most].bytes)
            most = i;
    if (looked->lines[most].bytes &&
        (looked->last_round > states->last_round ||
         (activations->any && activations->last_index > states->last_index)))
        return most + 1;
    return gradients->any &&
                   ((activations->any && activations->last_index > gradients->last_index) ||
                    (states->any && states->first_index > gradients->last_index))
               ? 0
               : PAIR_MAP_NONE;
}

/* --- sets --- */

/* What a line made: all that it made through its callees, or only what it made itself. */
struct set {
    uint32_t path;
    bool is_whole;
    uint32_t depth;
    uint64_t bytes, begin_index;
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
        if (sets[i].bytes >= looked->bytes / SET_OF_PARAMETERS_DIVISOR &&
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

/* Returns 1 if the two sets have tensors of like sizes, and the evidence is of as many tensors as
 * one of them has. */
static int is_one_trained(const struct looked *looked, const struct set *a, const struct set *b,
                          uint32_t evidence, struct err *err)
{
    struct pair_map sizes = {0}; /* (0, size): tensors of a; (1, size): tensors of both */
    uint64_t common_bytes = 0, trained_bytes = 0;
    int status = 0;

    for (size_t i = 0; i < looked->count && !status; i++)
        if (set_has(looked, a, looked->items[i].path))
            status = count_one(&sizes, 0, looked->items[i].size_bytes, err);
    for (size_t i = 0; i < looked->count && !status; i++) {
        const uint64_t size_bytes = looked->items[i].size_bytes, size = alike_size(size_bytes);
        const bool is_of_b = set_has(looked, b, looked->items[i].path);
        if (!is_of_b && !set_has(looked, a, looked->items[i].path))
            continue;
        const uint32_t of_a = pair_map_get(&sizes, 0, size);
        const uint32_t seen = pair_map_get(&sizes, 1, size);
        const uint32_t trained = pair_map_get(&looked->counts, evidence, size);
        if (trained != PAIR_MAP_NONE && (seen == PAIR_MAP_NONE ? 0 : seen) < trained)
            trained_bytes += size_bytes;
        status = count_one(&sizes, 1, size_bytes, err);
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

static int find_two(struct set *first, struct set *second, const struct looked *looked,
                    uint32_t evidence, struct err *err)
{
    struct set *sets;
    const long count = find_sets(&sets, looked, err);
    int status = count < 0 ? -1 : 0;

    for (long i = 0; i < count && status >= 0; i++)
        for (long j = i + 1; j < count && status >= 0; j++) {
            const struct set *a = &sets[i], *b = &sets[j];
            if (!are_alike(a->bytes, b->bytes) || !are_apart(looked, a, b) ||
                !is_better(a, b, first, second))
                continue;
            status = is_one_trained(looked, a, b, evidence, err);
            if (status <= 0)
                continue;
            *first = a->begin_index < b->begin_index ? *a : *b;
            *second = a->begin_index < b->begin_index ? *b : *a;
        }
    free(sets);
    return status < 0 ? -1 : second->bytes > 0;
}

int second_set_find(struct second_set *found, const struct categories *categories, uint32_t account,
                    uint64_t index, const struct blame *blame, struct err *err)
{
    struct looked looked = {.paths = &blame->paths};
    struct live_walk walk = live_walk_begin(categories->history, account, index);
    const struct block *block;
    struct set first = {0}, second = {0};
    int status = 0;

    while (!status && (block = live_walk_next(&walk)))
        if (block->memory == MEMORY_TENSOR)
            status = look_at(&looked, categories, block, blame, err);
    const uint32_t evidence = find_evidence(&looked);
    if (!status && looked.count && evidence != PAIR_MAP_NONE)
        status = find_two(&first, &second, &looked, evidence, err);
    if (status > 0)
        *found = (struct second_set){
            .first = {first.bytes, call_path_place(&blame->paths, first.path)->text},
            .second = {second.bytes, call_path_place(&blame->paths, second.path)->text},
            .by_states = evidence > 0};
    pair_map_release(&looked.counts);
    free(looked.items);
    return status;
}
