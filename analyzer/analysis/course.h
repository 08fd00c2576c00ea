/* SPDX-License-Identifier: MIT */
/*
 * The course of a run, for pictures: what each layer held at the moments of the timelines, by category,
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
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_COURSE_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_COURSE_H

#include "category.h"
#include "analyzer/analysis/over_time/breakdown.h"
#include "analyzer/analysis/over_time/timeline.h"
#include "analyzer/analysis/over_time/memory_map.h"

enum { COURSE_POINTS = 2000, COURSE_GRID = 240, COURSE_FAILURES = 40, COURSE_MAPS = 12 };
/* Blocks of a map: of a peak, the last failures and the end; and of one between them. */
enum { COURSE_BLOCKS = 5000, COURSE_BLOCKS_BETWEEN = 1500, COURSE_MAPPED_FAILURES = 4 };
enum { COURSE_PHASES = 15, COURSE_LINE_STACKS = 15, COURSE_STACKS = 200 };

/* A call stack with that of its forward operator, 0 where there is none, as one number. */
static inline uint64_t course_stacks(uint32_t stack_id, uint32_t forward_stack_id)
{
    return (uint64_t)forward_stack_id << 32 | stack_id;
}

/* What the groups of one account are; behind the last one is the rest. */
struct course_groups {
    uint64_t ids[COURSE_STACKS]; /* course_stacks, or paths with HISTORY_NONE for outside any */
    size_t count, most;
};

struct account_course {
    struct course_groups phases, stacks;
};

/* Zeroed is empty. */
struct course {
    struct moment *snapshots; /* ascending */
    size_t snapshot_count, snapshot_capacity, stamped;
    struct map_moment *maps; /* of some of them */
    size_t map_count;
    struct account_course *accounts;
    size_t account_count;
    struct pair_map phase_groups, stack_groups; /* (account, id) to the number of its group */
    struct breakdown by_category, by_phase, by_line, by_stack; /* by_stack: at the snapshots */
    struct memory_map map;
};

/* Chooses the snapshots and groups, and prepares COURSE_OBSERVERS observers for a second replay. */
enum { COURSE_OBSERVERS = 6 };
int course_begin(struct course *course, const struct categories *categories,
                 const struct timelines *timelines, struct observer observers[COURSE_OBSERVERS],
                 struct err *err);
void course_release(struct course *course);

/* The snapshot of that event; SIZE_MAX: there is none. */
size_t course_snapshot(const struct course *course, uint64_t index);
/* The first snapshot that is not before the event; snapshot_count: there is none. */
size_t course_snapshot_from(const struct course *course, uint64_t index);

#endif
