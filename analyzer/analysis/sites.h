/* SPDX-License-Identifier: MIT */
/*
 * Who holds memory at a moment: the live blocks of one account, grouped by call stack (and that of the
 * forward operator), phase of birth and category. It must not know names: those are looked up by whoever describes them.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_SITES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_SITES_H

#include "category.h"

/* What calls of backward have to do with it. */
enum site_kind {
    SITE_OTHER,
    SITE_LEFT,       /* a call that is over took it and left it */
    SITE_GRAPH,      /* of a graph, and no call has been over since */
    SITE_GRAPH_LEFT, /* of a graph, and a call that is over did not free it */
    SITE_KINDS
};

struct site {
    uint32_t stack_id;
    uint32_t forward_stack_id; /* as a block's */
    uint32_t path;             /* of history->paths, HISTORY_NONE: born outside any phase */
    enum category category;
    enum site_kind kind; /* of sites_left_at; else SITE_OTHER */
    uint64_t bytes, count;
};

struct sites {
    struct site *items; /* the largest first */
    size_t count;
    uint64_t total_bytes, total_count;
};

/* The blocks of the account that are live right after event `index`, a moment that is kept. */
int sites_at(struct sites *sites, const struct categories *categories, uint32_t account,
             uint64_t index, struct err *err);
/* The same of the blocks that somebody takes. */
struct site_filter {
    const void *self;
    bool (*takes)(const void *self, const struct block *block);
};
int sites_taken_at(struct sites *sites, const struct categories *categories, uint32_t account,
                   uint64_t index, const struct site_filter *filter, struct err *err);
/* The same, with what calls of backward left told apart. What is left of the kinds in by_call (bits of 1 << kind) has the
 * stack of the call: as its forward stack, or of a graph as its own. */
int sites_left_at(struct sites *sites, const struct categories *categories, uint32_t account,
                  const struct moment *at, unsigned by_call, struct err *err);
void sites_release(struct sites *sites);

/*
 * Sums of the sites by category, or by phase of birth of which there are path_count: the largest
 * first, none without a block. *sums is the caller's to free. Returns how many, or -1.
 */
enum sites_by { SITES_BY_CATEGORY, SITES_BY_PATH };
int sites_sum(const struct sites *sites, enum sites_by by, size_t path_count, struct site **sums,
              struct err *err);

/* Live bytes by category, indexed by enum category. */
void sites_by_category(const struct sites *sites, uint64_t bytes[CATEGORY_COUNT]);

#endif
