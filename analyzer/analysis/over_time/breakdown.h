/* SPDX-License-Identifier: MIT */
/*
 * Sums the live bytes at many moments by group of blocks: by category or by phase of birth. It
 * watches a second replay, because the moments are known only after the first one. A block's
 * category is known only when the block ends; breakdown then adds the block to the moments of its
 * life. It keeps a sum for each moment and group.
 *
 * The files in this folder: timeline finds the highest moments of equal parts of a run, breakdown
 * sums the live bytes at these moments, and memory_map keeps blocks and segments at a few moments.
 */
#pragma once

#include "analyzer/replay/history/observer.h"

enum breakdown_by { BREAKDOWN_NONE, BREAKDOWN_BY_LAYER, BREAKDOWN_BY_PHASE, BREAKDOWN_BY_CATEGORY };

struct breakdown_groups {
    size_t count;
    size_t (*of)(const void *self, const struct block *block); /* the block's group, below count */
    const void *self;
};

struct breakdown {
    struct breakdown_groups groups;
    size_t group_count; /* number of categories; or number of paths + 1 (for outside any phase) */
    struct account_breakdown {
        uint64_t *moments; /* ascending event indices; NULL: account not requested */
        size_t moment_count;
        size_t passed;   /* moments passed so far */
        uint64_t **sums; /* by group, then moment; NULL: the group was never live */
    } * accounts;
    size_t account_count;
};

/* Prepares for account_count accounts. Call breakdown_ask afterwards to set their moments. */
int breakdown_init(struct breakdown *breakdown, const struct breakdown_groups *groups,
                   size_t account_count, struct err *err);
void breakdown_release(struct breakdown *breakdown);
/* Sets the moments of an account, which must be ascending. Takes ownership of `moments`. */
int breakdown_ask(struct breakdown *breakdown, uint32_t account, uint64_t *moments, size_t count,
                  struct err *err);

struct observer breakdown_observer(struct breakdown *breakdown);

/* Bytes of the group at the account's moment number `moment`. */
uint64_t breakdown_bytes(const struct breakdown *breakdown, uint32_t account, size_t group,
                         size_t moment);
