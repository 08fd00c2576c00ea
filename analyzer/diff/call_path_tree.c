/* SPDX-License-Identifier: MIT */
/* Builds the tree of a holding's lines; see call_path_tree.h. */
#include "call_path_tree.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

static int compare_call_lines(const struct call_line *a, const struct call_line *b)
{
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static uint32_t add_node(struct call_path_tree *tree, const struct call_line *call_line,
                         struct err *err)
{
    struct call_path_node *grown =
        array_grow(tree->items, &tree->capacity, tree->count, sizeof *grown, err);

    if (!grown)
        return PATH_NODE_NONE;
    tree->items = grown;
    grown[tree->count] =
        (struct call_path_node){.first_child = PATH_NODE_NONE, .next = PATH_NODE_NONE};
    if (call_line)
        grown[tree->count].call_line = *call_line;
    return (uint32_t)tree->count++;
}

/* Returns the child for a line, and adds the child if it is missing. Children are sorted. */
static uint32_t child_of(struct call_path_tree *tree, uint32_t outer,
                         const struct call_line *call_line, struct err *err)
{
    uint32_t before = PATH_NODE_NONE, at = tree->items[outer].first_child;

    while (at != PATH_NODE_NONE && compare_call_lines(&tree->items[at].call_line, call_line) < 0) {
        before = at;
        at = tree->items[at].next;
    }
    if (at != PATH_NODE_NONE && !compare_call_lines(&tree->items[at].call_line, call_line))
        return at;
    const uint32_t made = add_node(tree, call_line, err);
    if (made == PATH_NODE_NONE)
        return PATH_NODE_NONE;
    tree->items[made].next = at;
    *(before == PATH_NODE_NONE ? &tree->items[outer].first_child : &tree->items[before].next) =
        made;
    return made;
}

static int add_site(struct call_path_tree *tree, size_t number, struct err *err)
{
    const struct held_site *site = &tree->holding->items[number];
    const uint32_t trait = (site->leaf * (uint32_t)2654435761U >> 16) % PATH_NODE_TRAITS;
    uint32_t at = 0;

    for (size_t i = 0; i <= site->depth; i++) {
        if (i && (at = child_of(tree, at, &site->call_path[i - 1], err)) == PATH_NODE_NONE)
            return -1;
        tree->items[at].each_bytes += site->each_bytes;
        tree->items[at].traits[trait] += site->each_bytes;
    }
    tree->next_site[number] = tree->items[at].first_site;
    tree->items[at].first_site = (uint32_t)number + 1;
    return 0;
}

int call_path_tree_make(struct call_path_tree *tree, const struct holding *holding, struct err *err)
{
    int status = -1;

    *tree = (struct call_path_tree){.holding = holding};
    tree->next_site = array_new(holding->count, sizeof *tree->next_site, err);
    if (tree->next_site && add_node(tree, NULL, err) != PATH_NODE_NONE)
        status = 0;
    for (size_t i = 0; i < holding->count && !status; i++)
        status = add_site(tree, i, err);
    if (status)
        call_path_tree_release(tree);
    return status;
}

void call_path_tree_release(struct call_path_tree *tree)
{
    free(tree->items);
    free(tree->next_site);
    *tree = (struct call_path_tree){0};
}

uint32_t call_path_tree_find(const struct call_path_tree *tree, const struct call_line *call_path,
                             size_t depth)
{
    uint32_t at = 0;

    for (size_t i = 0; i < depth && at != PATH_NODE_NONE; i++) {
        at = tree->items[at].first_child;
        while (at != PATH_NODE_NONE &&
               compare_call_lines(&tree->items[at].call_line, &call_path[i]) != 0)
            at = tree->items[at].next;
    }
    return at;
}

uint64_t call_path_node_likeness(const struct call_path_node *a, const struct call_path_node *b)
{
    uint64_t bytes = 0;

    for (int i = 0; i < PATH_NODE_TRAITS; i++)
        bytes += a->traits[i] < b->traits[i] ? a->traits[i] : b->traits[i];
    return bytes;
}
