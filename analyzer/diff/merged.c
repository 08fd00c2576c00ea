/* SPDX-License-Identifier: MIT */
/* Two trees of ways as one; see merged.h. */
#include "merged.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "pairs.h"

struct merging {
    struct diff_tree *difference;
    const struct way_tree **trees;
    struct err *err;
};

/* --- leaves --- */

static struct diff_leaf *leaf_of(const struct merging *merging, size_t first,
                                 const struct held_site *site)
{
    struct diff_tree *difference = merging->difference;

    for (size_t i = first; i < difference->leaf_count; i++)
        if (difference->leaves[i].name == site->leaf &&
            difference->leaves[i].is_of_backward == site->is_of_backward)
            return &difference->leaves[i];
    struct diff_leaf *grown = array_grow(difference->leaves, &difference->leaf_capacity,
                                         difference->leaf_count, sizeof *grown, merging->err);
    if (!grown)
        return NULL;
    difference->leaves = grown;
    grown += difference->leaf_count++;
    *grown = (struct diff_leaf){.name = site->leaf, .is_of_backward = site->is_of_backward};
    return grown;
}

static int add_leaves(const struct merging *merging, int side, uint32_t node, size_t first)
{
    const struct way_tree *tree = merging->trees[side];

    for (uint32_t at = node == WAY_NONE ? 0 : tree->items[node].first_site; at;
         at = tree->next_site[at - 1]) {
        const struct held_site *site = &tree->holding->items[at - 1];
        struct diff_leaf *leaf = leaf_of(merging, first, site);

        if (!leaf)
            return -1;
        leaf->bytes[side] += site->bytes;
        leaf->counts[side] += site->count;
        if (site->bytes >= leaf->largest_bytes) {
            leaf->largest_bytes = site->bytes;
            leaf->category = site->category;
            leaf->phase = site->phase;
        }
    }
    return 0;
}

/* --- nodes --- */

static int merge_nodes(const struct merging *merging, const uint32_t nodes[2], uint32_t outer);

static int merge_children(const struct merging *merging, const uint32_t nodes[2], uint32_t outer)
{
    struct way_pair *pairs;
    const int count = ways_pair(&pairs, merging->trees, nodes, merging->err);
    int status = 0;

    if (count < 0)
        return -1;
    for (int i = 0; i < count && !status; i++)
        status = merge_nodes(merging, pairs[i].nodes, outer);
    free(pairs);
    return status;
}

/* As deep as the deepest stack. */
static int merge_nodes(const struct merging *merging, const uint32_t nodes[2], uint32_t outer)
{
    struct diff_tree *difference = merging->difference;
    const int told = nodes[1] == WAY_NONE ? 0 : 1;
    const size_t number = difference->node_count, first = difference->leaf_count;
    struct diff_node *grown = array_grow(difference->nodes, &difference->node_capacity, number,
                                         sizeof *grown, merging->err);

    if (!grown)
        return -1;
    difference->nodes = grown;
    grown[number] = (struct diff_node){
        .step = merging->trees[told]->items[nodes[told]].step, .outer = outer, .first_leaf = first};
    difference->node_count++;
    if (add_leaves(merging, 0, nodes[0], first) || add_leaves(merging, 1, nodes[1], first))
        return -1;
    grown[number].leaf_end = difference->leaf_count;
    if (merge_children(merging, nodes, (uint32_t)number))
        return -1;
    difference->nodes[number].end = difference->node_count;
    return 0;
}

/* --- what only moved --- */

static int64_t change_of(const struct diff_leaf *leaf)
{
    return (int64_t)(leaf->bytes[1] - leaf->bytes[0]);
}

/* By what they are and by how much they changed; what grew and what shrank by as much alternate. */
static int compare_changes(const void *left, const void *right)
{
    const struct diff_leaf *a = *(const struct diff_leaf *const *)left,
                           *b = *(const struct diff_leaf *const *)right;
    const int64_t sizes[] = {llabs(change_of(a)), llabs(change_of(b))};

    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->is_of_backward != b->is_of_backward)
        return a->is_of_backward ? 1 : -1;
    if (a->category != b->category)
        return a->category < b->category ? -1 : 1;
    if (sizes[0] != sizes[1])
        return sizes[0] < sizes[1] ? -1 : 1;
    if (change_of(a) != change_of(b))
        return change_of(a) < change_of(b) ? -1 : 1;
    return (a > b) - (a < b);
}

static bool cancel(const struct diff_leaf *a, const struct diff_leaf *b)
{
    return a->name == b->name && a->is_of_backward == b->is_of_backward &&
           a->category == b->category && change_of(a) && change_of(a) == -change_of(b);
}

/* Of each kind and size those that shrank stand first, then those that grew. */
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

static int find_moved(struct diff_tree *difference, struct err *err)
{
    struct diff_leaf **changed = array_new(difference->leaf_count, sizeof(void *), err);
    size_t count = 0;

    if (!changed)
        return -1;
    for (size_t i = 0; i < difference->leaf_count; i++)
        if (change_of(&difference->leaves[i]))
            changed[count++] = &difference->leaves[i];
    if (count)
        qsort(changed, count, sizeof *changed, compare_changes);
    mark_moved(changed, count);
    free(changed);
    return 0;
}

/* --- sums --- */

/* What one line allocated itself is one part: its leaves may cancel. */
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

int diff_tree_merge(struct diff_tree *difference, const struct way_tree *trees[2], struct err *err)
{
    const struct merging merging = {difference, trees, err};

    if (merge_nodes(&merging, (const uint32_t[]){0, 0}, DIFF_NONE) || find_moved(difference, err))
        return -1;
    sum_up(difference);
    return 0;
}
