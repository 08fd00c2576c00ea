/* SPDX-License-Identifier: MIT */
/*
 * Sums over the whole run what each call stack allocated, by account: bytes, count, how
 * long its blocks lived, and how high the account stood. The sizes tell one line from
 * another, even if none of its blocks is live at a moment. A free has no call stack, so
 * the stack that allocated last before it stands for the place of the free. Watches the
 * replay and keeps a few numbers for each stack.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_BIRTHS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_BIRTHS_H

#include "analyzer/replay/history/observer.h"
#include "analyzer/util/pair_map.h"

struct birth_sum {
    uint32_t account, stack_id, forward_stack_id; /* as in struct block */
    uint64_t bytes, count;
    uint64_t freed_count, freed_age; /* blocks freed, and the sum of their lives in events */
    /* The item of the same account that allocated last before most frees, found by majority vote
     * (Boyer-Moore): votes_count is the votes for it less those against. */
    uint32_t freed_after;
    uint64_t votes_count;
    /* The account's highest live bytes right after this stack allocated, and the event's seq. */
    uint64_t high_bytes, high_seq;
};

/* Zeroed is empty and ready for use. */
struct births {
    struct birth_sum *items;
    size_t count, capacity;
    struct pair_map numbers; /* number of an item, by account and both stacks */
    struct pair_map last;    /* by account: the item that allocated last */
};

struct observer births_observer(struct births *births);
void births_release(struct births *births);

/* The number of the stack's item; PAIR_MAP_NONE: it allocated nothing, or nobody watched. */
uint32_t births_of(const struct births *births, uint32_t account, uint32_t stack_id,
                   uint32_t forward_stack_id);

#endif
