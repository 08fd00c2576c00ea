/* SPDX-License-Identifier: MIT */
/*
 * Sums for each call stack what it allocated in each account over the whole run: the bytes, the
 * number of blocks, how long these blocks lived, and the highest live bytes of the account. A line
 * can thus be described even if none of its blocks is live at the moment that is shown. A free has
 * no call stack. Therefore the stack that allocated last before a free stands for the place of the
 * free. Watches the replay and keeps a few numbers for each stack.
 */
#pragma once

#include "analyzer/replay/history/observer.h"
#include "analyzer/util/pair_map.h"

struct birth_sum {
    uint32_t account;
    uint64_t site_id;
    uint64_t bytes, count;
    uint64_t freed_count, freed_age; /* blocks freed, and the sum of their lives in events */
    /* Number of the item, in the same account, that most often allocated last before a free of this
     * item's blocks; found by majority vote (Boyer-Moore). votes_count is the number of votes for
     * it, less the number of votes against it. */
    uint32_t freed_after;
    uint64_t votes_count;
    /* The account's highest live bytes right after this stack allocated, and the event's seq. */
    uint64_t high_bytes, high_seq;
};

/* Zeroed is empty and ready for use. */
struct births {
    struct birth_sum *items;
    size_t count, capacity;
    struct pair_map numbers; /* index of an item, by account and site */
    struct pair_map last;    /* index of the item that allocated last, by account */
};

struct observer births_observer(struct births *births);
void births_release(struct births *births);

/* The index of the site's item. PAIR_MAP_NONE: the site allocated nothing, or births did not
 * watch the replay. */
uint32_t births_of(const struct births *births, uint32_t account, uint64_t site_id);
