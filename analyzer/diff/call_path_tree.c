/* SPDX-License-Identifier: MIT */
/* Builds the tree of a holding's lines; see call_path_tree.h. */
#include "call_path_tree.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* Returns the child for a line, and adds the child if it is missing. */
static uint32_t child_of(struct call_path_tree *tree, uint32_t outer,
                         const struct call_line *call_line, struct err *err)
{
    const uint32_t number = frame_tree_add(&tree->lines, outer, call_line->place, err);
    if (number < tree->count || number == FRAME_TREE_NONE)
        return number;
    if (ARRAY_REACH(tree->items, tree->capacity, tree->count, number, err))
        return FRAME_TREE_NONE;
    tree->items[number].call_line = *call_line;
    return number;
}

static int add_site(struct call_path_tree *tree, size_t number, struct err *err)
{
    const struct held_site *site = &tree->holding->items[number];
    const uint32_t trait = (site->leaf * (uint32_t)2654435761U >> 16) % PATH_NODE_TRAITS;
    uint32_t at = 0;
    for (size_t i = 0; i <= site->depth; i++) {
        if (i && (at = child_of(tree, at, &site->call_path[i - 1], err)) == FRAME_TREE_NONE)
            return -1;
        tree->items[at].each_bytes += site->each_bytes;
        tree->items[at].traits[trait] += site->each_bytes;
    }
    tree->next_site[number] = tree->items[at].first_site;
    tree->items[at].first_site = (uint32_t)number + 1;
    return 0;
}

/* A parent has a lower number than its children, so each node still has its whole sum when it is
 * subtracted. */
static void inline_lines(struct call_path_tree *tree, const struct functions *functions)
{
    for (uint32_t i = 1; i < tree->count; i++) {
        struct call_path_node *node = &tree->items[i];
        const uint32_t outer = tree->lines.nodes[i].outer, file = node->call_line.file;

        node->file = functions_is_of_both(functions, file) ? file : TEXT_SET_NONE;
        if (!outer || functions_is_of_both(functions, node->call_line.key))
            continue;
        node->is_inlined = true;
        tree->items[outer].each_bytes -= node->each_bytes;
        for (int n = 0; n < PATH_NODE_TRAITS; n++)
            tree->items[outer].traits[n] -= node->traits[n];
    }
}

int call_path_tree_make(struct call_path_tree *tree, const struct holding *holding,
                        const struct functions *functions, struct err *err)
{
    int status = -1;
    *tree = (struct call_path_tree){.holding = holding};
    tree->next_site = array_new(holding->count, sizeof *tree->next_site, err);
    if (tree->next_site &&
        child_of(tree, FRAME_TREE_NONE, &(struct call_line){0}, err) != FRAME_TREE_NONE)
        status = 0;
    for (size_t i = 0; i < holding->count && !status; i++)
        status = add_site(tree, i, err);
    if (status)
        call_path_tree_release(tree);
    else
        inline_lines(tree, functions);
    return status;
}

void call_path_tree_release(struct call_path_tree *tree)
{
    frame_tree_release(&tree->lines);
    free(tree->items);
    free(tree->next_site);
    *tree = (struct call_path_tree){0};
}

uint32_t call_path_tree_find(const struct call_path_tree *tree, const struct call_line *call_path,
                             size_t depth)
{
    uint32_t at = 0;
    for (size_t i = 0; i < depth && at != FRAME_TREE_NONE; i++)
        at = frame_tree_find(&tree->lines, at, call_path[i].place);
    return at;
}

uint64_t call_path_node_likeness(const struct call_path_node *a, const struct call_path_node *b)
{
    uint64_t bytes = 0;
    for (int i = 0; i < PATH_NODE_TRAITS; i++)
        bytes += a->traits[i] < b->traits[i] ? a->traits[i] : b->traits[i];
    return bytes;
}
