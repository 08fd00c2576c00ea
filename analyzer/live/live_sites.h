/* SPDX-License-Identifier: MIT */
/*
 * The sites of a layer with their growth, and the parts of the card. Finding them visits every live
 * block, so the next search waits 20 times as long as the last search took, and at least one
 * second.
 */
#pragma once

#include "live.h"

/* All zero: empty. */
struct live_sites {
    uint32_t account;
    bool is_known, has_new_modules, is_final;
    uint64_t next_ns; /* earliest time of the next search */
    struct live_held held;
    uint64_t at_index;          /* last event before the search */
    uint64_t parts[LIVE_PARTS]; /* all but live and free, which each look computes */
};

/* Call it when tables of the trace have grown, because new modules need new symbols. */
void live_sites_learn(struct live_sites *live_sites, const struct table_growth *growth);
/* Finds sites and parts again if next_ns has come or if the account has changed. If is_final
 * (nothing will change any more), finds them one last time. Changes the study's symbols and
 * categories, and reads its growth. */
int live_sites_update(struct live_sites *live_sites, struct study *study,
                      const struct device_use *use, uint32_t account, bool is_final,
                      struct err *err);
/* Copies rows and parts into the view. The view must have its sums already. */
void live_sites_show(const struct live_sites *live_sites, int sort, struct live_view *view);
void live_sites_release(struct live_sites *live_sites);
