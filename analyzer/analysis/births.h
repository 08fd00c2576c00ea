/* SPDX-License-Identifier: MIT */
/*
 * What each call stack allocated in the whole run, by account: how large its blocks are tells one line from
 * another, whatever of them is live at a moment; and how long they lived. A free has no call stack: what tells
 * where it was is who had allocated last. And how high the account stood when it allocated. It watches the replay, and keeps a few numbers for each stack.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_BIRTHS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_BIRTHS_H

#include "analyzer/replay/history/observer.h"
#include "analyzer/util/pair_map.h"

struct birth_sum {
    uint32_t account, stack_id, forward_stack_id; /* as a block's */
    uint64_t bytes, count;
    uint64_t freed_count, freed_age; /* that were freed; how many events they lived, in all */
    /* An item of the same account, which allocated last before a free. It is that of most, if of any: its votes are
     * those for it, less those for others. */
    uint32_t freed_after;
    uint64_t votes_count;
    /* The most that was live of the account right after it allocated, and the event's seq. */
    uint64_t high_bytes, high_seq;
};

/* Zeroed is empty and ready for use. */
struct births {
    struct birth_sum *items;
    size_t count, capacity;
    struct pair_map numbers; /* of an item, by account and both stacks */
    struct pair_map last;    /* the item that allocated last, by account */
};

struct observer births_observer(struct births *births);
void births_release(struct births *births);

/* Its number; PAIR_MAP_NONE: the stack allocated nothing, or nobody watched. */
uint32_t births_of(const struct births *births, uint32_t account, uint32_t stack_id,
                   uint32_t forward_stack_id);

#endif
