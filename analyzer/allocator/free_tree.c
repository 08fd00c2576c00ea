/* SPDX-License-Identifier: MIT */
/* The ordered blocks that are not used; see free_tree.h. */
#include "free_tree.h"

struct place {
    uint64_t group; /* the pool, and whether it is unmapped */
    uint64_t bytes, age, address;
};

static uint64_t group_of(uint32_t pool, enum allocator_state state)
{
    return (uint64_t)pool << 1 | (state == ALLOCATOR_UNMAPPED);
}

static struct place place_of(const struct allocator *allocator, uint32_t number)
{
    const struct allocator_block *block = &allocator->blocks[number];

    if (block->state == ALLOCATOR_UNMAPPED)
        return (struct place){.group = group_of(block->pool, block->state),
                              .address = block->address};
    return (struct place){.group = group_of(block->pool, block->state),
                          .bytes = block->bytes,
                          .age = allocator->settings.prefers_oldest ? block->segment_age : 0,
                          .address = block->address};
}

static bool is_below(const struct place *a, const struct place *b)
{
    if (a->group != b->group)
        return a->group < b->group;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    return a->age != b->age ? a->age < b->age : a->address < b->address;
}

/* By number: the same on every run, and as good as chance for what is in the tree. */
static uint32_t priority_of(uint32_t number)
{
    number = (number ^ number >> 16) * 0x7feb352du;
    number = (number ^ number >> 15) * 0x846ca68bu;
    return number ^ number >> 16;
}

static void split(struct allocator *allocator, uint32_t tree, const struct place *at,
                  uint32_t *below, uint32_t *rest)
{
    while (tree != ALLOCATOR_NONE) {
        const struct place here = place_of(allocator, tree);

        if (is_below(&here, at)) {
            *below = tree;
            below = &allocator->blocks[tree].right;
            tree = *below;
        } else {
            *rest = tree;
            rest = &allocator->blocks[tree].left;
            tree = *rest;
        }
    }
    *below = *rest = ALLOCATOR_NONE;
}

static uint32_t join(struct allocator *allocator, uint32_t below, uint32_t above)
{
    uint32_t root, *place = &root;

    while (below != ALLOCATOR_NONE && above != ALLOCATOR_NONE) {
        if (priority_of(below) > priority_of(above)) {
            *place = below;
            place = &allocator->blocks[below].right;
            below = *place;
        } else {
            *place = above;
            place = &allocator->blocks[above].left;
            above = *place;
        }
    }
    *place = below != ALLOCATOR_NONE ? below : above;
    return root;
}

void free_tree_add(struct allocator *allocator, uint32_t block)
{
    const struct place own = place_of(allocator, block);
    struct allocator_block *blocks = allocator->blocks;
    uint32_t *place = &allocator->tree;

    while (*place != ALLOCATOR_NONE && priority_of(*place) > priority_of(block)) {
        const struct place here = place_of(allocator, *place);

        place = is_below(&own, &here) ? &blocks[*place].left : &blocks[*place].right;
    }
    split(allocator, *place, &own, &blocks[block].left, &blocks[block].right);
    *place = block;
}

void free_tree_remove(struct allocator *allocator, uint32_t block)
{
    const struct place own = place_of(allocator, block);
    struct allocator_block *blocks = allocator->blocks;
    uint32_t *place = &allocator->tree;

    while (*place != block) {
        const struct place here = place_of(allocator, *place);

        place = is_below(&own, &here) ? &blocks[*place].left : &blocks[*place].right;
    }
    *place = join(allocator, blocks[block].left, blocks[block].right);
}

/* The first at or after that place, if it is of the same group. */
static uint32_t at_or_after(const struct allocator *allocator, const struct place *at)
{
    uint32_t node = allocator->tree, best = ALLOCATOR_NONE;

    while (node != ALLOCATOR_NONE) {
        const struct place here = place_of(allocator, node);

        if (is_below(&here, at)) {
            node = allocator->blocks[node].right;
        } else {
            best = node;
            node = allocator->blocks[node].left;
        }
    }
    return best != ALLOCATOR_NONE && place_of(allocator, best).group == at->group ? best
                                                                                  : ALLOCATOR_NONE;
}

/* The last before that place, if it is of the same group. */
static uint32_t before(const struct allocator *allocator, const struct place *at)
{
    uint32_t node = allocator->tree, best = ALLOCATOR_NONE;

    while (node != ALLOCATOR_NONE) {
        const struct place here = place_of(allocator, node);

        if (is_below(&here, at)) {
            best = node;
            node = allocator->blocks[node].right;
        } else {
            node = allocator->blocks[node].left;
        }
    }
    return best != ALLOCATOR_NONE && place_of(allocator, best).group == at->group ? best
                                                                                  : ALLOCATOR_NONE;
}

uint32_t free_tree_find(const struct allocator *allocator, uint32_t pool, uint64_t bytes)
{
    const struct place at = {.group = group_of(pool, ALLOCATOR_FREE), .bytes = bytes};

    return at_or_after(allocator, &at);
}

uint32_t free_tree_next(const struct allocator *allocator, uint32_t block)
{
    struct place at = place_of(allocator, block);

    at.address++;
    return at_or_after(allocator, &at);
}

uint32_t free_tree_first_unmapped(const struct allocator *allocator, uint32_t pool)
{
    const struct place at = {.group = group_of(pool, ALLOCATOR_UNMAPPED)};

    return at_or_after(allocator, &at);
}

uint32_t free_tree_previous(const struct allocator *allocator, uint32_t block)
{
    const struct place at = place_of(allocator, block);

    return before(allocator, &at);
}

uint32_t free_tree_last(const struct allocator *allocator, uint32_t pool)
{
    const struct place at = {.group = group_of(pool, ALLOCATOR_FREE), .bytes = UINT64_MAX};

    return before(allocator, &at);
}

void free_tree_rebuild(struct allocator *allocator)
{
    allocator->tree = ALLOCATOR_NONE;
    for (size_t i = 0; i < allocator->block_count; i++)
        if (allocator->blocks[i].state != ALLOCATOR_USED)
            free_tree_add(allocator, (uint32_t)i);
}
