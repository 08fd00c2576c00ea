/* SPDX-License-Identifier: MIT */
/*
 * Who holds the memory of a layer: its sites with their growth, and the parts of the card. To find that looks at
 * all that is live, so it is found again only when twenty times as long has passed. It must not know the
 * view's keys.
 */
#ifndef GPUMEMTRACE_ANALYZER_LIVE_LIVE_SITES_H
#define GPUMEMTRACE_ANALYZER_LIVE_LIVE_SITES_H

#include "live.h"

/* Zeroed is empty. */
struct live_sites {
    uint32_t account;
    bool is_known, has_new_modules, is_final;
    uint64_t next_ns; /* when it may be found again */
    struct live_held held;
    uint64_t at_index;          /* of the last event before that was found */
    uint64_t parts[LIVE_PARTS]; /* but for live and free, which are as of each look */
};

/* The tables of the trace have grown. */
void live_sites_learn(struct live_sites *live_sites, const struct table_growth *growth);
/* If it is time, or another account than before; is_final: nothing will change any more. Uses the study's symbols,
 * categories and growth. */
int live_sites_update(struct live_sites *live_sites, struct study *study,
                      const struct device_use *use, uint32_t account, bool is_final,
                      struct err *err);
/* Rows and parts; the view has the sums already. */
void live_sites_show(const struct live_sites *live_sites, int sort, struct live_view *view);
void live_sites_release(struct live_sites *live_sites);

#endif
