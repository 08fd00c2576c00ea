/* SPDX-License-Identifier: MIT */
/*
 * An ordered tree whose nodes are members of the caller's structs, keyed by two numbers. It does
 * not allocate.
 *
 * Not thread-safe: the simulator's lock covers every tree.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tree_key {
    uint64_t first, second;
};

struct tree_node {
    struct tree_key key;
    struct tree_node *left, *right;
};

/* Empty when all zero. */
struct tree {
    struct tree_node *root;
};

/* The struct that holds a node. */
#define TREE_ENTRY(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

/* The key must not be in the tree yet. */
void tree_insert(struct tree *tree, struct tree_node *node, struct tree_key key);
/* The node must be in the tree. */
void tree_remove(struct tree *tree, struct tree_node *node);

/* The first node with this key or a higher one; NULL: none. */
struct tree_node *tree_at_least(const struct tree *tree, struct tree_key key);
struct tree_node *tree_at_most(const struct tree *tree, struct tree_key key);
