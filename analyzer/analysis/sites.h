/* SPDX-License-Identifier: MIT */
/*
 * Groups the live blocks of one account at a moment by call stack (with the stack of the forward
 * operator), phase of birth and category. The pages look up the names of the frames later.
 */
#pragma once

#include "analyzer/replay/history/live_walk.h"
#include "category.h"

/* How a site relates to calls of backward. */
enum site_kind {
    SITE_OTHER,
    SITE_LEFT,       /* allocated by a call of backward that has ended */
    SITE_GRAPH,      /* autograd keeps it, and no call of backward has ended since */
    SITE_GRAPH_LEFT, /* autograd keeps it, although a call of backward has ended since */
    SITE_KINDS
};

struct site {
    uint64_t site_id;
    uint32_t path; /* of history->paths; HISTORY_NONE: born outside any phase */
    enum category category;
    enum site_kind kind; /* set by sites_left_at only; else SITE_OTHER */
    uint64_t bytes, count;
};

struct sites {
    struct site *items; /* by bytes, descending */
    size_t count;
    uint64_t total_bytes, total_count;
};

/* Finds the sites of the account's blocks that are live right after event `index`, which must be a
 * moment that the history keeps. */
int sites_at(struct sites *sites, const struct categories *categories, uint32_t account,
             uint64_t index, struct err *err);
/* Like sites_at, but only for the blocks for which takes() is true. */
int sites_taken_at(struct sites *sites, const struct categories *categories, uint32_t account,
                   uint64_t index, const struct block_filter *filter, struct err *err);
/* Like sites_at, but sets site.kind. by_call has a bit (1 << kind) for each kind whose sites are
 * grouped by the call of backward. The stack of that call then replaces the forward stack; for
 * SITE_GRAPH_LEFT, it replaces the site's own stack. */
int sites_left_at(struct sites *sites, const struct categories *categories, uint32_t account,
                  const struct moment *at, unsigned by_call, struct err *err);
void sites_release(struct sites *sites);

/*
 * Sums the sites by category, or by phase of birth; path_count is the number of phases. Sets *sums
 * to the sums that are not empty, by bytes descending. The caller frees *sums. Returns their
 * number, or -1.
 */
enum sites_by { SITES_BY_CATEGORY, SITES_BY_PATH };
int sites_sum(const struct sites *sites, enum sites_by by, size_t path_count, struct site **sums,
              struct err *err);

/* Live bytes by category, indexed by enum category. */
void sites_by_category(const struct sites *sites, uint64_t bytes[CATEGORY_COUNT]);
