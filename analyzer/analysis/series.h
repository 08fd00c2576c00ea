/* SPDX-License-Identifier: MIT */
/*
 * A run as a time series, for pictures: what each layer held at the moments of the timelines, by category,
 * phase of birth and call stack; and snapshots. The moments are
 * known after a first replay; this is filled by a second one. It must not know names nor pages.
 *
 *     points      ├┼┼┼┼┼┼┼┼┼┼┼┤  of each account, the highest of each cut: at most 2,000
 *     snapshots   ├──┼──┼──┼──┤  of all accounts: every account's peak, the failures, ends of steps, the
 *                                end, and so many points that the gaps between them are even
 *     maps        ├─────┼─────┤  some of the snapshots: the largest blocks, too
 *
 * It keeps a sum for each point and group. Of phases and call stacks, those are groups that held most at
 * the peak, the failures and the end; one more has the rest, so that sums close.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_SERIES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_SERIES_H

#include "category.h"
#include "analyzer/analysis/over_time/breakdown.h"
#include "analyzer/analysis/over_time/timeline.h"
#include "analyzer/analysis/over_time/memory_map.h"

enum { SERIES_POINTS = 2000, SERIES_GRID = 240, SERIES_FAILURES = 40, SERIES_MAPS = 12 };
/* Blocks of a map: of a peak, the last failures and the end; and of one between them. */
enum { SERIES_BLOCKS = 5000, SERIES_BLOCKS_BETWEEN = 1500, SERIES_MAPPED_FAILURES = 4 };
enum { SERIES_PHASES = 15, SERIES_LINE_STACKS = 15, SERIES_STACKS = 200 };

/* A call stack with that of its forward operator, 0 where there is none, as one number. */
static inline uint64_t series_stacks(uint32_t stack_id, uint32_t forward_stack_id)
{
    return (uint64_t)forward_stack_id << 32 | stack_id;
}

/* What the groups of one account are; behind the last one is the rest. */
struct series_groups {
    uint64_t ids[SERIES_STACKS]; /* series_stacks, or paths with HISTORY_NONE for outside any */
    size_t count, most;
};

struct account_series {
    struct series_groups phases, stacks;
};

/* Zeroed is empty. */
struct series {
    struct moment *snapshots; /* ascending */
    size_t snapshot_count, snapshot_capacity, stamped;
    struct map_moment *maps; /* of some of them */
    size_t map_count;
    struct account_series *accounts;
    size_t account_count;
    struct pair_map phase_groups, stack_groups; /* (account, id) to the number of its group */
    struct breakdown by_category, by_phase, by_line, by_stack; /* by_stack: at the snapshots */
    struct memory_map map;
};

/* Chooses the snapshots and groups, and prepares SERIES_OBSERVERS observers for a second replay. */
enum { SERIES_OBSERVERS = 6 };
int series_begin(struct series *series, const struct categories *categories,
                 const struct timelines *timelines, struct observer observers[SERIES_OBSERVERS],
                 struct err *err);
void series_release(struct series *series);

/* The snapshot of that event; SIZE_MAX: there is none. */
size_t series_snapshot(const struct series *series, uint64_t index);
/* The first snapshot that is not before the event; snapshot_count: there is none. */
size_t series_snapshot_from(const struct series *series, uint64_t index);

#endif
