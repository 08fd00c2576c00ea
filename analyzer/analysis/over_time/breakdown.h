/* SPDX-License-Identifier: MIT */
/*
 * What was live at many moments, in groups of blocks: by category, or by phase of birth. A block's
 * category is known when it ends, and the moments when the replay is over: so it watches a second
 * replay of the same events, and adds each block, when it ends, to the moments of its life. It keeps a
 * sum for each moment and group, and no block. It must not know how the moments were found, nor what
 * a group is.
 *
 * The room: a timeline finds the highest moments of even parts of a run, a breakdown says what was
 * live at such moments, a memory map which blocks and segments. None knows categories, names, pages or a
 * study.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_OVER_TIME_BREAKDOWN_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_OVER_TIME_BREAKDOWN_H

#include "analyzer/replay/history/observer.h"

enum breakdown_by { BREAKDOWN_NONE, BREAKDOWN_BY_LAYER, BREAKDOWN_BY_PHASE, BREAKDOWN_BY_CATEGORY };

struct breakdown_groups {
    size_t count;
    size_t (*of)(const void *self, const struct block *block); /* below count */
    const void *self;
};

struct breakdown {
    struct breakdown_groups groups;
    size_t group_count; /* categories; or paths, and behind them outside any */
    struct account_breakdown {
        uint64_t *moments; /* ascending indices of events; NULL: nothing is asked of the account */
        size_t moment_count;
        size_t passed;   /* of them, by now */
        uint64_t **sums; /* by group; NULL: nothing of it was live. By moment */
    } * accounts;
    size_t account_count;
};

/* Of so many accounts; their moments are then to be asked for. */
int breakdown_init(struct breakdown *breakdown, const struct breakdown_groups *groups,
                   size_t account_count, struct err *err);
void breakdown_release(struct breakdown *breakdown);
/* The moments must not fall. The pointer becomes the breakdown's. */
int breakdown_ask(struct breakdown *breakdown, uint32_t account, uint64_t *moments, size_t count,
                  struct err *err);

struct observer breakdown_observer(struct breakdown *breakdown);

/* Bytes of the group at the account's moment of that number. */
uint64_t breakdown_bytes(const struct breakdown *breakdown, uint32_t account, size_t group,
                         size_t moment);

#endif
