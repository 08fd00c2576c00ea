/* SPDX-License-Identifier: MIT */
/*
 * The map from addresses to allocations. See block.h.
 */
#include "block.h"

#include <stdlib.h>

#include "contents.h"
#include "context_state.h"

static struct tree blocks;
static uint64_t last_id;

static struct tree_key key_of(uint64_t address)
{
    return (struct tree_key){address, 0};
}

struct block *block_new(const struct block *model)
{
    struct block *block = malloc(sizeof *block);
    if (!block)
        return NULL;
    *block = *model;
    block->id = ++last_id;
    block->previous = NULL;
    block->next = NULL;
    if (block->context) {
        block->next = block->context->blocks;
        if (block->next)
            block->next->previous = block;
        block->context->blocks = block;
    }
    if (block->kind != BLOCK_ARRAY)
        tree_insert(&blocks, &block->by_address, key_of(block->address));
    return block;
}

void block_delete(struct block *block)
{
    if (block->next)
        block->next->previous = block->previous;
    if (block->previous)
        block->previous->next = block->next;
    else if (block->context)
        block->context->blocks = block->next;
    if (block->kind != BLOCK_ARRAY) {
        tree_remove(&blocks, &block->by_address);
        contents_forget(block->address, block->size_bytes);
    }
    free(block);
}

struct block *block_containing(uint64_t address)
{
    struct tree_node *node = tree_at_most(&blocks, key_of(address));
    struct block *block = node ? TREE_ENTRY(node, struct block, by_address) : NULL;
    return block && address - block->address < block->size_bytes ? block : NULL;
}

struct block *block_at(uint64_t address)
{
    struct block *block = block_containing(address);
    return block && block->address == address ? block : NULL;
}

struct block *block_find_if(bool is_wanted(const struct block *block, const void *data),
                            const void *data)
{
    struct tree_node *node = tree_at_least(&blocks, key_of(0));
    while (node) {
        struct block *block = TREE_ENTRY(node, struct block, by_address);
        if (is_wanted(block, data))
            return block;
        node = tree_at_least(&blocks, key_of(block->address + 1));
    }
    return NULL;
}

bool block_overlaps(uint64_t address, uint64_t size_bytes)
{
    struct tree_node *node = tree_at_least(&blocks, key_of(address));
    return block_containing(address) ||
           (node && TREE_ENTRY(node, struct block, by_address)->address - address < size_bytes);
}
