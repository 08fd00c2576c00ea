/* SPDX-License-Identifier: MIT */
/* Live memory as a call tree; see call_tree.h. */
#include "call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

/* A node under construction. Node i belongs to path i of the blame. The nodes after the last path
 * are the labels of stacks without a path. */
struct branch {
    struct call_node node;
    const char *key;        /* the name and its file */
    uint32_t number, outer; /* outer: CALL_PATH_NONE at the top */
};

static void add_bytes(struct branch *branches, uint32_t number, const struct site *site)
{
    branches[number].node.own_bytes += site->bytes;
    branches[number].node.own_count += site->count;
    for (uint32_t at = number; at != CALL_PATH_NONE; at = branches[at].outer) {
        branches[at].node.bytes += site->bytes;
        branches[at].node.count += site->count;
    }
}

static void fill(struct branch *branches, const struct sites *sites, const struct blame *blame)
{
    const struct call_paths *paths = &blame->paths;
    for (uint32_t i = 0; i < paths->tree.count; i++) {
        const uint32_t outer = paths->tree.nodes[i].outer; /* a lower number: its depth is set */

        branches[i] = (struct branch){
            .node.name = call_path_place(paths, i)->text,
            .node.depth = outer == CALL_PATH_NONE ? 0 : branches[outer].node.depth + 1,
            .key = paths->keys.texts[paths->tree.nodes[i].frame],
            .number = i,
            .outer = outer};
    }
    for (size_t i = 0; i < sites->count; i++) {
        const struct blamed *blamed = blame_of(blame, sites->items[i].site_id);
        uint32_t number = blamed->path;

        if (number == CALL_PATH_NONE) {
            number = (uint32_t)paths->tree.count + blamed->label_number;
            branches[number] = (struct branch){
                .node = branches[number].node, .number = number, .outer = CALL_PATH_NONE};
            branches[number].node.name = branches[number].key = blamed->label;
        }
        add_bytes(branches, number, &sites->items[i]);
    }
}

/* Puts siblings next to each other, by bytes descending, and nodes at the top of the tree last. */
ORDER_BY(compare_branches, struct branch, RISING(outer), FALLING(node.bytes),
         strcmp(a->key, b->key));

/* Index + 1 of the first child of each path among the sorted branches; 0: none. */
static uint32_t *find_children(const struct branch *sorted, size_t count, size_t path_count,
                               struct err *err)
{
    uint32_t *first = array_new(path_count + 1, sizeof *first, err);
    for (size_t i = count; first && i-- > 0;)
        first[sorted[i].outer == CALL_PATH_NONE ? path_count : sorted[i].outer] = (uint32_t)i + 1;
    return first;
}

/* Writes the nodes in pre-order, with a stack of pending siblings instead of recursion. */
static int flatten(struct call_tree *tree, const struct branch *sorted, size_t count,
                   size_t path_count, struct err *err)
{
    uint32_t *first = find_children(sorted, count, path_count, err);
    size_t *open = array_new(count + 1, sizeof *open, err);
    size_t depth = 0;
    if (first && open && first[path_count])
        open[depth++] = first[path_count] - 1;
    while (depth > 0) {
        const size_t at = open[depth - 1];
        const struct branch *branch = &sorted[at];

        tree->items[tree->count++] = branch->node;
        if (at + 1 < count && sorted[at + 1].outer == branch->outer)
            open[depth - 1]++;
        else
            depth--;
        if (branch->number < path_count && first[branch->number])
            open[depth++] = first[branch->number] - 1;
    }
    const int status = first && open ? 0 : -1;
    free(first);
    free(open);
    return status;
}

static void find_ends(struct call_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        size_t end = i + 1;

        while (end < tree->count && tree->items[end].depth > tree->items[i].depth)
            end++;
        tree->items[i].end = end;
    }
}

int call_tree_find(struct call_tree *tree, const struct sites *sites, const struct blame *blame,
                   struct err *err)
{
    const size_t most = blame->paths.tree.count + blame->labels.count;
    struct branch *branches = array_new(most, sizeof *branches, err);
    size_t count = 0;
    int status = -1;
    *tree = (struct call_tree){.items = array_new(most, sizeof *tree->items, err)};
    if (!branches || !tree->items)
        goto out;
    fill(branches, sites, blame);
    for (size_t i = 0; i < most; i++)
        if (branches[i].node.count)
            branches[count++] = branches[i];
    SORT(branches, count, compare_branches);
    status = flatten(tree, branches, count, blame->paths.tree.count, err);
    if (!status)
        find_ends(tree);
out:
    free(branches);
    if (status)
        call_tree_release(tree);
    return status;
}

void call_tree_release(struct call_tree *tree)
{
    free(tree->items);
    *tree = (struct call_tree){0};
}
