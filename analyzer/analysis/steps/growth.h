/* SPDX-License-Identifier: MIT */
/*
 * Finds the growth per step: the straight line through the live bytes at the ends of steps
 * (trend.h), with a verdict. It does this for an account as a whole, and for each of its sites.
 *
 *   grows        The line rises: with 95 % confidence, or because the bytes never fell and rose in
 *                at least half of the steps. Also, the line through the last third of the steps
 *                rises at least a quarter as fast as the whole line, and never falls back to the
 *                lowest bytes of the first third. What falls back is replaced, as the models of
 *                a search are.
 *   flat         The line does not rise, or the line through the last third does not rise, or the
 *                second half of the steps never holds more than the first half.
 *   cannot tell  There are fewer than three ends after the first step, or the bytes vary more than
 *                they rise.
 *
 * If at least half of what the last end holds more than the first one is rests of blocks that the
 * pool did not cut (rests.h), nothing grows: the line is flat.
 *
 * A site that grows either keeps more and more blocks, or enlarges its blocks. Examples of
 * enlarged blocks are a list that is copied to twice the room, and a cache that is replaced by a
 * longer one. A site enlarges its blocks if their number is constant over the last third, and no
 * block was resized in place. (Blocks of the pool of graphs are resized in place; their number of
 * allocations is unknown.)
 *
 * Steps end as in step_ends.h. A step that only began, for example with a first backward that
 * fails, counts as well. The bytes at a cut end are left out, because they hold what the next step
 * would have freed.
 *
 * A site that grows may be a cache; see cache_names.h. A cache that is full no longer grows; see
 * turnover.h.
 */
#pragma once

#include "growth_watch.h"

enum growth_verdict { GROWTH_UNKNOWN, GROWTH_FLAT, GROWTH_GROWS };

/* Bytes per step. */
struct growth_line {
    enum growth_verdict verdict;
    bool has_slope; /* false: too few steps; the next three fields are invalid */
    double slope, low, high;
};

struct growing {
    uint64_t site_id;
    const struct site_blocks *blocks; /* of the growth_watch */
    const struct sweeps *sweeps;      /* of the growth_watch */
    bool is_saw;   /* the bytes rise and are swept again and again; the line fits the rises */
    uint64_t pace; /* steps between sweeps that come at a regular pace; 0: they do not */
    uint64_t
        enlarged_by_bytes;   /* each block is so much larger than the one it replaced, one in each
                                   step; 0: they differ, or come seldom */
    uint64_t enlarged_count; /* number of blocks that it enlarges; 0: it keeps more and more */
    bool waits;              /* most of its blocks may be kept for a backward of an open forward */
    bool is_of_graph;        /* autograd keeps a block of it */
    uint64_t first_bytes, last_bytes; /* at the first and the last end that was counted */
    uint64_t end_bytes;               /* at the end of the trace */
    const struct occurrences *rises;  /* of the growth_watch */
    double rise_bytes;                /* mean of the rises */
    uint64_t since_step;              /* step that first kept a block; 0: unknown */
    struct growth_line line;
};

/* The bytes that a site allocated and that were freed within the same step. */
struct churning {
    uint64_t site_id;
    uint64_t bytes, count; /* summed over all counted steps */
};

/* Sites of which every block is kept, without steps or after the last step. */
struct kept {
    uint64_t site_ids[2]; /* those that hold most */
    size_t count;
    uint64_t blocks_count, bytes;
    bool get_larger; /* each block is larger than the one before */
};

/* A site of which most blocks are freed, and of which some are lost now and then (ebb.h),
 * without steps. */
struct lost {
    uint64_t site_id; /* 0: there is none */
    uint64_t blocks_count, bytes;
    uint64_t freed_count;
};

/* Sites that filled a cache after the first third of the steps (turnover.h). */
struct filled {
    uint64_t site_id; /* the one that holds most, if that is worth a word; 0: there is none */
    uint64_t bytes, since_step;
    double slope; /* of all that would grow if they were none, in bytes per step */
};

/* The step that ends with the counted end `at`. */
static inline uint64_t growth_step_of_end(uint64_t at)
{
    return at + 1 + WARM_UP_ENDS;
}

enum { GROWTH_CHURN_MAX = 1000 };

struct growth {
    enum step_end ends;               /* kind of the ends of steps; STEP_ENDS: no steps */
    const struct step_period *period; /* rounds that end the steps; owned by the watch's ends */
    uint64_t ends_count;              /* steps of the trace, including the first one */
    uint64_t needed_steps;            /* fewest for a verdict; one more if the last is cut */
    uint64_t counted_steps;           /* steps whose churn was counted */
    struct growth_line total;
    uint64_t total_rises, total_intervals; /* ends, or windows, of the total; and those that rose */
    double rest_slope; /* of the total's rests (rests.h), in bytes per step; 0: they do not rise */
    uint64_t flat_since; /* step since which the grown total is flat; 0: none */
    struct kept kept;    /* empty if the trace has steps */
    /* Made after the last step. blocks_count is that of each stack; 0: they differ. */
    struct kept after;
    struct lost lost;
    struct filled filled;
    uint64_t dropped_site_id; /* frees of its blocks end the rounds; 0: none */
    uint64_t dropped_count;   /* its most live blocks */
    struct growing *items;    /* by slope, descending */
    size_t count;
    struct churning *churn; /* by bytes, descending; at most GROWTH_CHURN_MAX */
    size_t churn_count;
};

int growth_find(struct growth *growth, const struct growth_watch *watch, uint32_t account,
                struct err *err);
void growth_release(struct growth *growth);

/* Finds the rounds of a program that marks no steps, from a replay in which no step ended. Account
 * HISTORY_NONE: from the order of births in all accounts together. The result is empty if nothing
 * repeats. The caller releases it. */
int growth_find_period(struct step_period *period, const struct growth_watch *watch,
                       uint32_t account, struct err *err);

/* True if most of the growth waits for a backward. In this case, layers may repeat instead of
 * steps. */
static inline bool growth_waits(const struct growth *growth)
{
    return growth->count && growth->items[0].waits;
}
