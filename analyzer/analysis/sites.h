/* SPDX-License-Identifier: MIT */
/*
 * Who holds memory at a moment: the live blocks of one stock, grouped by call stack, phase of birth
 * and category. It must not know names: those are looked up by whoever prints.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_SITES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_SITES_H

#include "category.h"

struct site {
    uint32_t stack_id;
    uint32_t path; /* of history->paths, HISTORY_NONE: born outside any phase */
    enum category category;
    uint64_t bytes, count;
};

struct sites {
    struct site *items; /* the largest first */
    size_t count;
    uint64_t total_bytes, total_count;
};

/* The blocks of the stock that are live right after event `index`. */
int sites_at(struct sites *sites, const struct categories *categories, uint32_t stock,
             uint32_t index, struct err *err);
void sites_release(struct sites *sites);

/* Live bytes by category, indexed by enum category. */
void sites_by_category(const struct sites *sites, uint64_t bytes[CATEGORY_COUNT]);

#endif
