/* SPDX-License-Identifier: MIT */
/*
 * Live blocks that end with their context: one list for each device and context, newest block
 * first.
 *
 *     device ──► list of context 0 (blocks without context) ──► list of context A ──► ...
 *                      │ newest ◄──► older ◄──► oldest
 */
#pragma once

#include "analyzer/util/pair_map.h"
#include "analyzer/replay/history/cursor.h"

struct bound_lists {
    struct bound_list *lists;
    size_t list_capacity;
    struct slots list_slots;
    struct bound_link *links; /* by block */
    size_t link_capacity;
    struct pair_map by_context; /* first: DEVICE_SLOT; second: context */
    uint32_t first[DEVICE_SLOTS];
};

void bound_lists_init(struct bound_lists *bound);
void bound_lists_release(struct bound_lists *bound);

int bound_lists_add(struct bound_lists *bound, int device, uint64_t context, uint32_t block,
                    struct err *err);
void bound_lists_remove(struct bound_lists *bound, uint32_t block);

/* The newest block of one list. HISTORY_NONE: the list is empty. */
uint32_t bound_lists_newest(const struct bound_lists *bound, int device, uint64_t context);
/*
 * Returns the list after `list` on the device, or the first list if `list` is HISTORY_NONE. Sets
 * *context to the context of that list. Returns HISTORY_NONE if there are no more lists. A list
 * disappears with its last block, so call this before you end the blocks of `list`.
 */
uint32_t bound_lists_next(const struct bound_lists *bound, int device, uint32_t list,
                          uint64_t *context);
/* Hides a list from bound_lists_next until bound_lists_show is called for its context. */
void bound_lists_hide(struct bound_lists *bound, uint32_t list);
void bound_lists_show(struct bound_lists *bound, uint64_t context);
