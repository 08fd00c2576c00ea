/* SPDX-License-Identifier: MIT */
/* Joins a list of items, one for each call stack, into one item for each line to blame. */
#ifndef GPUMEMTRACE_ANALYZER_BLAME_JOINED_H
#define GPUMEMTRACE_ANALYZER_BLAME_JOINED_H

#include "blame.h"

/* Describes the items. */
struct joinable {
    size_t item_bytes, stack_offset; /* offset of its uint32_t stack_id */
    void (*join)(void *into, const void *from);
    int (*compare)(const void *left, const void *right); /* as for qsort */
};

/* Finds the labels of the items' stacks. */
int joined_blame(struct blame *blame, struct symbols *symbols, const struct joinable *what,
                 const void *items, size_t count, struct err *err);
/*
 * Returns the joined items, sorted; the caller frees them, and *count is set to their number. A
 * joined item keeps the stack of its first item. NULL: out of memory.
 */
void *joined_items(const struct blame *blame, const struct joinable *what, const void *items,
                   size_t *count, struct err *err);
/* Number of other items that were joined into the row of `blamed`. */
size_t joined_others(const struct blame *blame, const struct joinable *what, const void *items,
                     size_t count, const struct blamed *blamed);

#endif
