/* SPDX-License-Identifier: MIT */
/* Merges two trees of call paths; see merged.h. */
#include "merged.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "pairs.h"

/* The largest number of leaves in a sequence that cancels itself. */
enum { ROW_MAX = 1024 };

struct merging {
    struct diff_tree *difference;
    const struct call_path_tree **trees;
    uint32_t *partners[2]; /* see pairs.h */
    struct err *err;
};

/* --- leaves --- */

static bool is_leaf_of(const struct diff_leaf *leaf, const struct held_site *site)
{
    return leaf->name == site->leaf && leaf->is_of_backward == site->is_of_backward;
}

static struct diff_leaf *leaf_of(const struct merging *merging, size_t first,
                                 const struct held_site *site)
{
    struct diff_tree *difference = merging->difference;
    for (size_t i = first; i < difference->leaf_count; i++)
        if (is_leaf_of(&difference->leaves[i], site))
            return &difference->leaves[i];
    if (ARRAY_GROW(difference->leaves, difference->leaf_capacity, difference->leaf_count,
                   merging->err))
        return NULL;
    struct diff_leaf *added = &difference->leaves[difference->leaf_count++];
    *added = (struct diff_leaf){.name = site->leaf, .is_of_backward = site->is_of_backward};
    return added;
}

static int add_leaves(const struct merging *merging, int side, uint32_t node, size_t first)
{
    const struct call_path_tree *tree = merging->trees[side];
    for (uint32_t at = node == FRAME_TREE_NONE ? 0 : tree->items[node].first_site; at;
         at = tree->next_site[at - 1]) {
        const struct held_site *site = &tree->holding->items[at - 1];
        struct diff_leaf *leaf;

        if (!site->count && !site->bytes)
            continue;
        leaf = leaf_of(merging, first, site);
        if (!leaf)
            return -1;
        leaf->bytes[side] += site->bytes;
        leaf->counts[side] += site->count;
        if (site->bytes >= leaf->largest_bytes) {
            leaf->largest_bytes = site->bytes;
            leaf->category = site->category;
            leaf->phase = site->phase;
            leaf->label_depth = site->label_depth;
        }
    }
    return 0;
}

static bool is_after_same(const struct held_life *a, const struct held_life *b)
{
    return a->is_after_backward == b->is_after_backward && a->after_depth == b->after_depth &&
           (a->after_depth == 0 || !memcmp(a->after, b->after, a->after_depth * sizeof *a->after));
}

/*
 * Adds the life of another stack. If the two stacks were freed after different lines, the sum has
 * no such line.
 */
static void add_life(struct held_life *life, const struct held_life *other)
{
    if (!other->born_count)
        return;
    if (!life->born_count)
        *life = (struct held_life){.after = other->after,
                                   .after_depth = other->after_depth,
                                   .is_after_backward = other->is_after_backward};
    else if (!is_after_same(life, other))
        life->after_depth = 0;
    life->born_count += other->born_count;
    life->freed_count += other->freed_count;
    life->freed_age += other->freed_age;
}

/* Adds the block sizes and lives of leaves on both sides. It does so even if a leaf is live on one
 * side only. */
static void add_each(const struct merging *merging, int side, uint32_t node, size_t first)
{
    const struct call_path_tree *tree = merging->trees[side];
    struct diff_tree *difference = merging->difference;
    for (uint32_t at = node == FRAME_TREE_NONE ? 0 : tree->items[node].first_site; at;
         at = tree->next_site[at - 1]) {
        const struct held_site *site = &tree->holding->items[at - 1];

        for (size_t i = first; i < difference->leaf_count; i++)
            if (is_leaf_of(&difference->leaves[i], site)) {
                difference->leaves[i].each_bytes[side] += site->each_bytes;
                add_life(&difference->leaves[i].lives[side], &site->life);
            }
    }
}

/* --- nodes --- */

static int merge_nodes(const struct merging *merging, const uint32_t nodes[2], uint32_t outer);

/* Merges each child of the line after with its partner, wherever that is, and each child of the
 * line before that has no partner. */
static int merge_children(const struct merging *merging, const uint32_t nodes[2], uint32_t outer)
{
    int status = partners_find(merging->partners, merging->trees, nodes, merging->err);
    for (int side = 1; side >= 0; side--) {
        const struct frame_node *lines = merging->trees[side]->lines.nodes;
        const uint32_t first = nodes[side] == FRAME_TREE_NONE ? 0 : lines[nodes[side]].first;

        for (uint32_t at = first; at && !status; at = lines[at].next) {
            uint32_t both[2];

            both[side] = at;
            both[!side] = merging->partners[side][at];
            if (side || both[1] == FRAME_TREE_NONE)
                status = merge_nodes(merging, both, outer);
        }
    }
    return status;
}

/*
 * Merges two nodes and all nodes below them. The recursion is as deep as the deepest stack. Removes
 * lines that have nothing live below them on either side.
 */
static int merge_nodes(const struct merging *merging, const uint32_t nodes[2], uint32_t outer)
{
    struct diff_tree *difference = merging->difference;
    const int told = nodes[1] == FRAME_TREE_NONE ? 0 : 1;
    const size_t number = difference->node_count, first = difference->leaf_count;
    if (ARRAY_GROW(difference->nodes, difference->node_capacity, number, merging->err))
        return -1;
    difference->nodes[number] =
        (struct diff_node){.call_line = merging->trees[told]->items[nodes[told]].call_line,
                           .outer = outer,
                           .depth = number ? difference->nodes[outer].depth + 1 : 0,
                           .first_leaf = first,
                           .is_old = nodes[0] != FRAME_TREE_NONE};
    difference->node_count++;
    if (add_leaves(merging, 0, nodes[0], first) || add_leaves(merging, 1, nodes[1], first))
        return -1;
    add_each(merging, 0, nodes[0], first);
    add_each(merging, 1, nodes[1], first);
    difference->nodes[number].leaf_end = difference->leaf_count;
    if (merge_children(merging, nodes, (uint32_t)number))
        return -1;
    if (number && difference->leaf_count == first)
        difference->node_count = number;
    else
        difference->nodes[number].end = difference->node_count;
    return 0;
}

/* --- the line after which blocks are freed --- */

/* Returns the node after which most blocks were freed, or FRAME_TREE_NONE if it is unknown. */
static uint32_t node_after(const struct merging *merging, int side, const struct held_life *life)
{
    return life->after_depth
               ? call_path_tree_find(merging->trees[side], life->after, life->after_depth)
               : FRAME_TREE_NONE;
}

static void find_freed_elsewhere(const struct merging *merging)
{
    for (size_t i = 0; i < merging->difference->leaf_count; i++) {
        struct diff_leaf *leaf = &merging->difference->leaves[i];
        const uint32_t before = node_after(merging, 0, &leaf->lives[0]);
        const uint32_t after = node_after(merging, 1, &leaf->lives[1]);

        leaf->is_freed_elsewhere =
            before != FRAME_TREE_NONE && after != FRAME_TREE_NONE &&
            (merging->partners[0][before] != after ||
             leaf->lives[0].is_after_backward != leaf->lives[1].is_after_backward);
    }
}

/* --- lines that only moved --- */

static int64_t change_of(const struct diff_leaf *leaf)
{
    return (int64_t)(leaf->bytes[1] - leaf->bytes[0]);
}

static int compare_kinds(const struct diff_leaf *a, const struct diff_leaf *b)
{
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->is_of_backward != b->is_of_backward)
        return a->is_of_backward ? 1 : -1;
    return (a->category > b->category) - (a->category < b->category);
}

/* Sorts leaves by kind and by size of the change. For the same size, a leaf that shrank comes
 * before one that grew. */
ORDER_POINTERS_BY(compare_changes, struct diff_leaf, compare_kinds(a, b),
                  ORDER(llabs(change_of(a)), llabs(change_of(b))), RISING_IN(change_of),
                  ORDER(a, b));

static bool cancel(const struct diff_leaf *a, const struct diff_leaf *b)
{
    return !compare_kinds(a, b) && change_of(a) && change_of(a) == -change_of(b);
}

/* Marks pairs of leaves whose changes cancel each other. `changed` is sorted by compare_changes. */
static void mark_moved(struct diff_leaf **changed, size_t count)
{
    size_t shrunk = 0;
    for (size_t grown = 1; grown < count; grown++) {
        while (shrunk < grown &&
               (change_of(changed[shrunk]) > 0 ||
                (!cancel(changed[shrunk], changed[grown]) && change_of(changed[grown]) > 0)))
            shrunk++;
        if (shrunk < grown && cancel(changed[shrunk], changed[grown])) {
            changed[shrunk++]->is_moved = true;
            changed[grown]->is_moved = true;
        }
    }
}

/* Sorts by kind, and after that by position in the tree. */
ORDER_POINTERS_BY(compare_places, struct diff_leaf, compare_kinds(a, b), ORDER(a, b));

/*
 * Returns the length of the shortest sequence of one kind, beginning with the first leaf, whose
 * changes add up to 0. Returns 0 if there is none.
 */
static size_t length_of_row(struct diff_leaf *const *changed, size_t count)
{
    uint64_t sum = 0; /* negative changes wrap around */

    for (size_t i = 0; i < count && i < ROW_MAX && !compare_kinds(changed[0], changed[i]); i++) {
        sum += (uint64_t)change_of(changed[i]);
        if (!sum)
            return i + 1;
    }
    return 0;
}

/*
 * Marks sequences whose changes cancel each other: several lines now allocate what one line did, as
 * after moving code into a function.
 */
static void mark_rows_moved(struct diff_leaf **changed, size_t count)
{
    size_t left = 0, length;
    for (size_t i = 0; i < count; i++)
        if (!changed[i]->is_moved)
            changed[left++] = changed[i];
    SORT(changed, left, compare_places);
    for (size_t i = 0; i < left; i += length ? length : 1) {
        length = length_of_row(&changed[i], left - i);
        for (size_t n = 0; n < length; n++)
            changed[i + n]->is_moved = true;
    }
}

static int find_moved(struct diff_tree *difference, struct err *err)
{
    struct diff_leaf **changed = array_new(difference->leaf_count, sizeof(void *), err);
    size_t count = 0;
    if (!changed)
        return -1;
    for (size_t i = 0; i < difference->leaf_count; i++)
        if (change_of(&difference->leaves[i]))
            changed[count++] = &difference->leaves[i];
    SORT(changed, count, compare_changes);
    mark_moved(changed, count);
    mark_rows_moved(changed, count);
    free(changed);
    return 0;
}

/* --- sums --- */

/* Sums the nodes from the leaves up. A line's own leaves count as one part, because their changes
 * may cancel each other. */
static void sum_up(struct diff_tree *difference)
{
    for (size_t i = difference->node_count; i-- > 0;) {
        struct diff_node *node = &difference->nodes[i];
        int64_t own = 0;
        uint64_t after = 0;

        for (size_t n = node->first_leaf; n < node->leaf_end; n++) {
            if (difference->leaves[n].is_moved)
                continue;
            own += diff_leaf_delta(&difference->leaves[n]);
            after += difference->leaves[n].bytes[1];
            node->before_bytes += difference->leaves[n].bytes[0];
        }
        node->grown_bytes += own > 0 ? (uint64_t)own : 0;
        node->shrunk_bytes += own < 0 ? (uint64_t)-own : 0;
        node->growing_bytes += own > 0 ? after : 0;
        node->after_bytes += after;
        if (node->outer == DIFF_NONE)
            continue;
        struct diff_node *outer = &difference->nodes[node->outer];
        outer->grown_bytes += node->grown_bytes;
        outer->shrunk_bytes += node->shrunk_bytes;
        outer->growing_bytes += node->growing_bytes;
        outer->before_bytes += node->before_bytes;
        outer->after_bytes += node->after_bytes;
    }
}

int diff_tree_merge(struct diff_tree *difference, const struct call_path_tree *trees[2],
                    struct err *err)
{
    const struct merging merging = {
        .difference = difference,
        .trees = trees,
        .partners = {array_new(trees[0]->count, sizeof(uint32_t), err),
                     array_new(trees[1]->count, sizeof(uint32_t), err)},
        .err = err,
    };
    int status = -1;
    if (!merging.partners[0] || !merging.partners[1] ||
        merge_nodes(&merging, (const uint32_t[]){0, 0}, DIFF_NONE))
        goto out;
    find_freed_elsewhere(&merging);
    if (find_moved(difference, err))
        goto out;
    sum_up(difference);
    status = 0;
out:
    free(merging.partners[0]);
    free(merging.partners[1]);
    return status;
}
