/* SPDX-License-Identifier: MIT */
/*
 * A treap: a search tree by key that is also a heap by priority. The priority is a hash of the key
 * instead of a random number, so that the shape depends only on the keys and is the same in every
 * run.
 */
#include "tree.h"

#include <stdbool.h>

static bool is_before(struct tree_key a, struct tree_key b)
{
    return a.first != b.first ? a.first < b.first : a.second < b.second;
}

/* Multiplies and folds twice, so that adjacent addresses get unrelated priorities. */
static uint64_t node_priority(const struct tree_node *node)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t bits = (node->key.first ^ (node->key.second * odd)) * odd;
    bits ^= bits >> 29;
    bits *= 0xbf58476d1ce4e5b9u;
    return bits ^ (bits >> 32);
}

/* Splits a tree into the nodes before the key and the remaining nodes. */
static void tree_split(struct tree_node *root, struct tree_key key, struct tree_node **before,
                       struct tree_node **after)
{
    while (root) {
        if (is_before(root->key, key)) {
            *before = root;
            before = &root->right;
            root = root->right;
        } else {
            *after = root;
            after = &root->left;
            root = root->left;
        }
    }
    *before = NULL;
    *after = NULL;
}

void tree_insert(struct tree *tree, struct tree_node *node, struct tree_key key)
{
    struct tree_node **place = &tree->root;
    node->key = key;
    const uint64_t own = node_priority(node);
    while (*place && node_priority(*place) >= own)
        place = is_before(key, (*place)->key) ? &(*place)->left : &(*place)->right;
    tree_split(*place, key, &node->left, &node->right);
    *place = node;
}

/* Joins two trees; every node of `before` comes before every node of `after`. */
static struct tree_node *tree_join(struct tree_node *before, struct tree_node *after)
{
    struct tree_node *root, **place = &root;
    while (before && after) {
        if (node_priority(before) >= node_priority(after)) {
            *place = before;
            place = &before->right;
            before = before->right;
        } else {
            *place = after;
            place = &after->left;
            after = after->left;
        }
    }
    *place = before ? before : after;
    return root;
}

void tree_remove(struct tree *tree, struct tree_node *node)
{
    struct tree_node **place = &tree->root;
    while (*place != node)
        place = is_before(node->key, (*place)->key) ? &(*place)->left : &(*place)->right;
    *place = tree_join(node->left, node->right);
}

struct tree_node *tree_at_least(const struct tree *tree, struct tree_key key)
{
    struct tree_node *best = NULL, *node = tree->root;
    while (node) {
        if (is_before(node->key, key)) {
            node = node->right;
        } else {
            best = node;
            node = node->left;
        }
    }
    return best;
}

struct tree_node *tree_at_most(const struct tree *tree, struct tree_key key)
{
    struct tree_node *best = NULL, *node = tree->root;
    while (node) {
        if (is_before(key, node->key)) {
            node = node->left;
        } else {
            best = node;
            node = node->right;
        }
    }
    return best;
}
