/* SPDX-License-Identifier: MIT */
/* Joins a list of items, one for each call stack, into one item for each line to blame. */
#ifndef GPUMEMTRACE_ANALYZER_BLAME_JOINED_H
#define GPUMEMTRACE_ANALYZER_BLAME_JOINED_H

#include "blame.h"

/* Describes the items of such a list. */
struct joinable {
    size_t item_bytes, stack_offset; /* offset of its uint32_t stack_id */
    void (*join)(void *into, const void *from);
    int (*compare)(const void *left, const void *right); /* as for qsort */
};

/* Fills `blame` with the labels of the items' stacks. */
int joined_blame(struct blame *blame, struct symbols *symbols, const struct joinable *what,
                 const void *items, size_t count, struct err *err);
/*
 * Returns the joined items, sorted, and sets *count to their number. The caller frees them. A
 * joined item keeps the stack of the first item that was joined into it. NULL: out of memory.
 */
void *joined_items(const struct blame *blame, const struct joinable *what, const void *items,
                   size_t *count, struct err *err);
/* Number of other items that were joined into the row of `blamed`. */
size_t joined_others(const struct blame *blame, const struct joinable *what, const void *items,
                     size_t count, const struct blamed *blamed);

#endif
