/* SPDX-License-Identifier: MIT */
/* A holding as a tree of the program's lines; see way_tree.h. */
#include "way_tree.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

static int compare_steps(const struct held_step *a, const struct held_step *b)
{
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static uint32_t add_node(struct way_tree *tree, const struct held_step *step, struct err *err)
{
    struct way_node *grown =
        array_grow(tree->items, &tree->capacity, tree->count, sizeof *grown, err);

    if (!grown)
        return WAY_NONE;
    tree->items = grown;
    grown[tree->count] = (struct way_node){.first_child = WAY_NONE, .next = WAY_NONE};
    if (step)
        grown[tree->count].step = *step;
    return (uint32_t)tree->count++;
}

/* The child of that step, which is made if it is not there yet. Children stand in their order. */
static uint32_t child_of(struct way_tree *tree, uint32_t outer, const struct held_step *step,
                         struct err *err)
{
    uint32_t before = WAY_NONE, at = tree->items[outer].first_child;

    while (at != WAY_NONE && compare_steps(&tree->items[at].step, step) < 0) {
        before = at;
        at = tree->items[at].next;
    }
    if (at != WAY_NONE && !compare_steps(&tree->items[at].step, step))
        return at;
    const uint32_t made = add_node(tree, step, err);
    if (made == WAY_NONE)
        return WAY_NONE;
    tree->items[made].next = at;
    *(before == WAY_NONE ? &tree->items[outer].first_child : &tree->items[before].next) = made;
    return made;
}

static int add_site(struct way_tree *tree, size_t number, struct err *err)
{
    const struct held_site *site = &tree->holding->items[number];
    const uint32_t trait = (site->leaf * (uint32_t)2654435761U >> 16) % WAY_TRAITS;
    uint32_t at = 0;

    for (size_t i = 0; i <= site->depth; i++) {
        if (i && (at = child_of(tree, at, &site->way[i - 1], err)) == WAY_NONE)
            return -1;
        tree->items[at].each_bytes += site->each_bytes;
        tree->items[at].traits[trait] += site->each_bytes;
    }
    tree->next_site[number] = tree->items[at].first_site;
    tree->items[at].first_site = (uint32_t)number + 1;
    return 0;
}

int way_tree_make(struct way_tree *tree, const struct holding *holding, struct err *err)
{
    int status = -1;

    *tree = (struct way_tree){.holding = holding};
    tree->next_site = array_new(holding->count, sizeof *tree->next_site, err);
    if (tree->next_site && add_node(tree, NULL, err) != WAY_NONE)
        status = 0;
    for (size_t i = 0; i < holding->count && !status; i++)
        status = add_site(tree, i, err);
    if (status)
        way_tree_release(tree);
    return status;
}

void way_tree_release(struct way_tree *tree)
{
    free(tree->items);
    free(tree->next_site);
    *tree = (struct way_tree){0};
}

uint32_t way_tree_find(const struct way_tree *tree, const struct held_step *way, size_t depth)
{
    uint32_t at = 0;

    for (size_t i = 0; i < depth && at != WAY_NONE; i++) {
        at = tree->items[at].first_child;
        while (at != WAY_NONE && compare_steps(&tree->items[at].step, &way[i]) != 0)
            at = tree->items[at].next;
    }
    return at;
}

uint64_t way_likeness(const struct way_node *a, const struct way_node *b)
{
    uint64_t bytes = 0;

    for (int i = 0; i < WAY_TRAITS; i++)
        bytes += a->traits[i] < b->traits[i] ? a->traits[i] : b->traits[i];
    return bytes;
}
