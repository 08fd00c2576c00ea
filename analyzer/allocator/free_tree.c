/* SPDX-License-Identifier: MIT */
/* Ordered trees of unused blocks; see free_tree.h. */
#include "free_tree.h"

#include "analyzer/util/array.h"
#include "gpumemtrace/compiler.h"

/* --- classes of sizes --- */

enum {
    PARTS_BITS = 6,
    PARTS = 1 << PARTS_BITS, /* classes per power of two */
    UNIT_BITS = 31,          /* larger blocks are in the last class */
    CLASSES = (UNIT_BITS - PARTS_BITS + 1) * PARTS,
    WORD_BITS = 64,
    WORDS = CLASSES / WORD_BITS,
};

struct free_trees {
    uint32_t roots[CLASSES];
    uint64_t filled[WORDS]; /* bit i: class i has blocks */
    uint32_t unmapped;
};

static unsigned class_of(uint64_t bytes)
{
    const uint64_t most = (UINT64_C(1) << UNIT_BITS) - 1;
    const uint64_t all = bytes / ALLOCATOR_ROUND_BYTES, units = all < most ? all : most;
    const unsigned shift = units < 2 * PARTS ? 0 : GMT_HIGHEST_BIT(units) - PARTS_BITS;
    return shift * PARTS + (unsigned)(units >> shift);
}

/* Returns the root of the first class from `class` on that has blocks. */
static uint32_t root_from(const struct free_trees *trees, unsigned class)
{
    unsigned word = class / WORD_BITS;
    if (class >= CLASSES)
        return ALLOCATOR_NONE;
    uint64_t bits = trees->filled[word] & UINT64_MAX << class % WORD_BITS;
    while (!bits && ++word < WORDS)
        bits = trees->filled[word];
    return bits ? trees->roots[word * WORD_BITS + GMT_LOWEST_BIT(bits)] : ALLOCATOR_NONE;
}

/* Returns the root of the last class below `class` that has blocks. */
static uint32_t root_below(const struct free_trees *trees, unsigned class)
{
    unsigned word = class / WORD_BITS;
    uint64_t bits = word < WORDS ? trees->filled[word] & ~(UINT64_MAX << class % WORD_BITS) : 0;
    while (!bits && word-- > 0)
        bits = trees->filled[word];
    return bits ? trees->roots[word * WORD_BITS + GMT_HIGHEST_BIT(bits)] : ALLOCATOR_NONE;
}

static void clear(struct free_trees *trees)
{
    *trees = (struct free_trees){.unmapped = ALLOCATOR_NONE};
    for (size_t i = 0; i < CLASSES; i++)
        trees->roots[i] = ALLOCATOR_NONE;
}

struct free_trees *free_trees_new(struct err *err)
{
    struct free_trees *trees = array_new(1, sizeof *trees, err);
    if (trees)
        clear(trees);
    return trees;
}

/* --- one treap --- */

struct place {
    uint64_t bytes, age, address;
};

static struct place place_of(const struct allocator *allocator, const struct allocator_block *block)
{
    if (block->state == ALLOCATOR_UNMAPPED)
        return (struct place){.address = block->address};
    return (struct place){.bytes = block->bytes,
                          .age = allocator->settings.prefers_oldest ? block->segment_age : 0,
                          .address = block->address};
}

static bool is_below(const struct allocator *allocator, uint32_t number, const struct place *at)
{
    const struct place here = place_of(allocator, &allocator->blocks[number]);
    if (here.bytes != at->bytes)
        return here.bytes < at->bytes;
    return here.age != at->age ? here.age < at->age : here.address < at->address;
}

static uint32_t *root_of(const struct allocator *allocator, const struct allocator_block *block)
{
    struct free_trees *trees = allocator->pools[block->pool].trees;
    return block->state == ALLOCATOR_UNMAPPED ? &trees->unmapped
                                              : &trees->roots[class_of(block->bytes)];
}

/* Computes the priority from the block's number, so that it is the same in every run and as good as
 * random. */
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
        if (is_below(allocator, tree, at)) {
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

/* Returns the first block at or after that place. */
static uint32_t at_or_after(const struct allocator *allocator, uint32_t node,
                            const struct place *at)
{
    uint32_t best = ALLOCATOR_NONE;
    while (node != ALLOCATOR_NONE) {
        if (is_below(allocator, node, at)) {
            node = allocator->blocks[node].right;
        } else {
            best = node;
            node = allocator->blocks[node].left;
        }
    }
    return best;
}

/* Returns the last block before that place. */
static uint32_t before(const struct allocator *allocator, uint32_t node, const struct place *at)
{
    uint32_t best = ALLOCATOR_NONE;
    while (node != ALLOCATOR_NONE) {
        if (is_below(allocator, node, at)) {
            best = node;
            node = allocator->blocks[node].right;
        } else {
            node = allocator->blocks[node].left;
        }
    }
    return best;
}

static uint32_t first_of(const struct allocator *allocator, uint32_t node)
{
    while (node != ALLOCATOR_NONE && allocator->blocks[node].left != ALLOCATOR_NONE)
        node = allocator->blocks[node].left;
    return node;
}

static uint32_t last_of(const struct allocator *allocator, uint32_t node)
{
    while (node != ALLOCATOR_NONE && allocator->blocks[node].right != ALLOCATOR_NONE)
        node = allocator->blocks[node].right;
    return node;
}

/* --- all trees of a pool --- */

static void note_filled(const struct allocator *allocator, const struct allocator_block *block)
{
    struct free_trees *trees = allocator->pools[block->pool].trees;
    const unsigned class = class_of(block->bytes);
    const uint64_t bit = UINT64_C(1) << class % WORD_BITS;
    if (block->state == ALLOCATOR_UNMAPPED)
        return;
    if (trees->roots[class] == ALLOCATOR_NONE)
        trees->filled[class / WORD_BITS] &= ~bit;
    else
        trees->filled[class / WORD_BITS] |= bit;
}

void free_tree_add(struct allocator *allocator, uint32_t block)
{
    struct allocator_block *blocks = allocator->blocks;
    const struct place own = place_of(allocator, &blocks[block]);
    uint32_t *place = root_of(allocator, &blocks[block]);
    while (*place != ALLOCATOR_NONE && priority_of(*place) > priority_of(block))
        place = is_below(allocator, *place, &own) ? &blocks[*place].right : &blocks[*place].left;
    split(allocator, *place, &own, &blocks[block].left, &blocks[block].right);
    *place = block;
    note_filled(allocator, &blocks[block]);
}

void free_tree_remove(struct allocator *allocator, uint32_t block)
{
    struct allocator_block *blocks = allocator->blocks;
    const struct place own = place_of(allocator, &blocks[block]);
    uint32_t *place = root_of(allocator, &blocks[block]);
    while (*place != block)
        place = is_below(allocator, *place, &own) ? &blocks[*place].right : &blocks[*place].left;
    *place = join(allocator, blocks[block].left, blocks[block].right);
    note_filled(allocator, &blocks[block]);
}

uint32_t free_tree_find(const struct allocator *allocator, uint32_t pool, uint64_t bytes)
{
    const struct free_trees *trees = allocator->pools[pool].trees;
    const struct place at = {.bytes = bytes};
    const unsigned class = class_of(bytes);
    const uint32_t found = at_or_after(allocator, trees->roots[class], &at);
    return found != ALLOCATOR_NONE ? found : first_of(allocator, root_from(trees, class + 1));
}

uint32_t free_tree_next(const struct allocator *allocator, uint32_t number)
{
    const struct allocator_block *block = &allocator->blocks[number];
    struct place at = place_of(allocator, block);
    at.address++;
    const uint32_t found = at_or_after(allocator, *root_of(allocator, block), &at);
    if (found != ALLOCATOR_NONE || block->state == ALLOCATOR_UNMAPPED)
        return found;
    return first_of(allocator,
                    root_from(allocator->pools[block->pool].trees, class_of(block->bytes) + 1));
}

uint32_t free_tree_first_unmapped(const struct allocator *allocator, uint32_t pool)
{
    return first_of(allocator, allocator->pools[pool].trees->unmapped);
}

uint32_t free_tree_previous(const struct allocator *allocator, uint32_t number)
{
    const struct allocator_block *block = &allocator->blocks[number];
    const struct place at = place_of(allocator, block);
    const uint32_t found = before(allocator, *root_of(allocator, block), &at);
    return found != ALLOCATOR_NONE
               ? found
               : last_of(allocator,
                         root_below(allocator->pools[block->pool].trees, class_of(block->bytes)));
}

uint32_t free_tree_last(const struct allocator *allocator, uint32_t pool)
{
    return last_of(allocator, root_below(allocator->pools[pool].trees, CLASSES));
}

void free_tree_rebuild(struct allocator *allocator)
{
    for (size_t i = 0; i < allocator->pool_count; i++)
        clear(allocator->pools[i].trees);
    for (size_t i = 0; i < allocator->block_count; i++)
        if (allocator->blocks[i].state != ALLOCATOR_USED)
            free_tree_add(allocator, (uint32_t)i);
}
