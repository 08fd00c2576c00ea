/* SPDX-License-Identifier: MIT */
/*
 * Allocates spans by best fit. Neighbours that are both free are merged at once. See heap.h.
 */
#include "heap.h"

#include <stdlib.h>

static void free_insert(struct heap *heap, struct span *span)
{
    span->used = false;
    tree_insert(&heap->free, &span->by_size, (struct tree_key){span->size_bytes, span->address});
}

int heap_add(struct heap *heap, uint64_t address, uint64_t size_bytes, struct span *parent)
{
    struct span *span = calloc(1, sizeof *span);
    if (!span)
        return -1;
    span->address = address;
    span->size_bytes = size_bytes;
    span->parent = parent;
    free_insert(heap, span);
    return 0;
}

struct span *heap_free_from(const struct heap *heap, uint64_t size_bytes, uint64_t address)
{
    struct tree_node *node = tree_at_least(&heap->free, (struct tree_key){size_bytes, address});
    return node ? TREE_ENTRY(node, struct span, by_size) : NULL;
}

/* Cuts a span, which must not be in a tree, to size_bytes. The rest becomes a free span. */
static int span_cut(struct heap *heap, struct span *span, uint64_t size_bytes)
{
    struct span *rest = calloc(1, sizeof *rest);
    if (!rest)
        return -1;
    rest->address = span->address + size_bytes;
    rest->size_bytes = span->size_bytes - size_bytes;
    rest->parent = span->parent;
    rest->lower = span;
    rest->upper = span->upper;
    if (rest->upper)
        rest->upper->lower = rest;
    span->upper = rest;
    span->size_bytes = size_bytes;
    free_insert(heap, rest);
    return 0;
}

struct span *heap_take(struct heap *heap, uint64_t size_bytes)
{
    struct span *span = heap_free_from(heap, size_bytes, 0);
    if (!span)
        return NULL;
    tree_remove(&heap->free, &span->by_size);
    if (span->size_bytes > size_bytes && span_cut(heap, span, size_bytes)) {
        free_insert(heap, span);
        return NULL;
    }
    span->used = true;
    return span;
}

/* Merges the upper neighbour into the lower one. Neither span is in the tree. */
static void span_merge(struct span *lower, struct span *upper)
{
    lower->size_bytes += upper->size_bytes;
    lower->upper = upper->upper;
    if (upper->upper)
        upper->upper->lower = lower;
    free(upper);
}

struct span *heap_give(struct heap *heap, struct span *span)
{
    struct span *lower = span->lower, *upper = span->upper;
    if (upper && !upper->used) {
        tree_remove(&heap->free, &upper->by_size);
        span_merge(span, upper);
    }
    if (lower && !lower->used) {
        tree_remove(&heap->free, &lower->by_size);
        span_merge(lower, span);
        span = lower;
    }
    free_insert(heap, span);
    return span;
}

bool span_is_region(const struct span *span)
{
    return !span->lower && !span->upper;
}

void heap_drop(struct heap *heap, struct span *span)
{
    tree_remove(&heap->free, &span->by_size);
    free(span);
}
