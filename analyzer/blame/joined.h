/* SPDX-License-Identifier: MIT */
/*
 * A list of items, one for each call stack, as a person reads it: items that the same line is to blame
 * for are one. It must not know what items say.
 */
#ifndef GPUMEMTRACE_ANALYZER_BLAME_JOINED_H
#define GPUMEMTRACE_ANALYZER_BLAME_JOINED_H

#include "blame.h"

/* What items are. */
struct joinable {
    size_t item_bytes, stack_offset; /* where its uint32_t stack_id is */
    void (*join)(void *into, const void *from);
    int (*compare)(const void *left, const void *right); /* as qsort has it */
};

/* Heads for the stacks of items. */
int joined_blame(struct blame *blame, struct symbols *symbols, const struct joinable *what,
                 const void *items, size_t count, struct err *err);
/* The joined items, sorted, which the caller frees; *count becomes how many they are. The stack of one
 * is that of its first item. NULL: out of memory. */
void *joined_items(const struct blame *blame, const struct joinable *what, const void *items,
                   size_t *count, struct err *err);
/* How many more of the items that were joined read as this one does. */
size_t joined_others(const struct blame *blame, const struct joinable *what, const void *items,
                     size_t count, const struct blamed *blamed);

#endif
