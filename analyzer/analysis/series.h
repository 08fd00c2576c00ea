/* SPDX-License-Identifier: MIT */
/*
 * A run as a time series, for pictures. It has the bytes of each account at the moments of the
 * timelines, by category, phase of birth and call stack; and it has snapshots. The first replay
 * finds the moments, and a second one fills the series.
 *
 *     points      ├┼┼┼┼┼┼┼┼┼┼┼┤  for each account, the highest moment of each cut: at most 2,000
 *     snapshots   ├──┼──┼──┼──┤  for all accounts together: every account's peak, failures, ends of
 *                                steps, the end, and enough points to make the gaps even
 *     maps        ├─────┼─────┤  some of the snapshots, with the largest blocks
 *
 * It keeps a sum for each point and group. The groups are the phases and call stacks that held most
 * at the peak, at failures and at the end. One more group stands for the rest, so that the sums
 * match.
 */
#pragma once

#include "category.h"
#include "analyzer/analysis/over_time/breakdown.h"
#include "analyzer/analysis/over_time/timeline.h"
#include "analyzer/analysis/over_time/memory_map.h"

enum { SERIES_POINTS = 2000, SERIES_GRID = 240, SERIES_FAILURES = 40, SERIES_MAPS = 12 };
/* Limits on the blocks of a map: SERIES_BLOCKS at a peak, at the end and at the last
 * SERIES_MAPPED_FAILURES failures, SERIES_BLOCKS_BETWEEN at other moments. */
enum { SERIES_BLOCKS = 5000, SERIES_BLOCKS_BETWEEN = 1500, SERIES_MAPPED_FAILURES = 4 };
enum { SERIES_PHASES = 15, SERIES_LINE_STACKS = 15, SERIES_STACKS = 200 };

/* The groups of one account. The group number `count` stands for the rest. */
struct series_groups {
    uint64_t ids[SERIES_STACKS]; /* site ids; or paths (HISTORY_NONE: outside) */
    size_t count, most;
};

struct account_series {
    struct series_groups phases, stacks;
};

/* Zeroed is empty. */
struct series {
    struct moment *snapshots; /* ascending by event */
    size_t snapshot_count, snapshot_capacity, stamped;
    struct map_moment *maps; /* of some of the snapshots */
    size_t map_count;
    struct account_series *accounts;
    size_t account_count;
    struct pair_map phase_groups, stack_groups;                /* (account, id) to group number */
    struct breakdown by_category, by_phase, by_line, by_stack; /* by_stack: at the snapshots */
    struct memory_map map;
};

/* Chooses the snapshots and groups, and prepares SERIES_OBSERVERS observers for a second replay. */
enum { SERIES_OBSERVERS = 6 };
int series_begin(struct series *series, const struct categories *categories,
                 const struct timelines *timelines, struct observer observers[SERIES_OBSERVERS],
                 struct err *err);
void series_release(struct series *series);

/* Number of the snapshot at event `index`; SIZE_MAX: there is none. */
size_t series_snapshot(const struct series *series, uint64_t index);
/* Number of the first snapshot at or after event `index`; snapshot_count: there is none. */
size_t series_snapshot_from(const struct series *series, uint64_t index);
