/* SPDX-License-Identifier: MIT */
/*
 * Who holds the memory of a layer: its sites with their growth, and the parts of the card. To find that looks at
 * all that is live, so it is found again only when twenty times as long has passed. It must not know the
 * view's keys.
 */
#ifndef GPUMEMTRACE_ANALYZER_LIVE_HOLDERS_H
#define GPUMEMTRACE_ANALYZER_LIVE_HOLDERS_H

#include "live.h"

/* Zeroed is empty. */
struct holders {
    uint32_t account;
    bool is_known, has_new_modules, is_final;
    uint64_t next_ns; /* when it may be found again */
    struct live_held held;
    uint64_t at_index;          /* of the last event before that was found */
    uint64_t parts[LIVE_PARTS]; /* but for live and free, which are as of each look */
};

/* The tables of the trace have grown. */
void holders_learn(struct holders *holders, const struct table_growth *growth);
/* If it is time, or another account than before; is_final: nothing will change any more. Uses the study's symbols,
 * categories and growth. */
int holders_update(struct holders *holders, struct study *study, const struct device_use *use,
                   uint32_t account, bool is_final, struct err *err);
/* Rows and parts; the view has the sums already. */
void holders_show(const struct holders *holders, int sort, struct live_view *view);
void holders_release(struct holders *holders);

#endif
