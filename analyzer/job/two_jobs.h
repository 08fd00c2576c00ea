/* SPDX-License-Identifier: MIT */
/*
 * Puts two jobs beside each other. Finds which rank of one job is which rank of the other, and how
 * much its peak changed. For the first groups, also finds which line is to blame.
 *
 *     pair    a rank on one device, in both jobs; traces without rank are matched by file name
 *     group   pairs whose peaks before, and whose peaks after, differ by less than 2 %
 */
#pragma once

#include "analyzer/diff/more.h"
#include "job.h"

enum { TWO_JOBS_COMPARED = 3 };

struct place_pair {
    const struct job_place *places[2]; /* before, after */
    uint64_t bytes[2];
    size_t group;
};

/* Tells which peaks are compared. By default they are those of all devices and of the leading
 * layer. */
struct two_jobs_ask {
    int device; /* -1: all devices */
    bool of_driver;
};

struct two_jobs {
    struct job *jobs[2];
    /* Sorted by group. The groups, and the pairs in each group, are sorted by change, the largest
     * first. */
    struct place_pair *pairs;
    size_t count, group_count;
    /* By group: the memory that the group's first pair holds more than before. */
    struct more more[TWO_JOBS_COMPARED];
    const struct job_place **alone[2]; /* places with memory that the other job lacks */
    size_t alone_counts[2];
};

/* Both jobs must outlive *two. On -1 nothing has to be released. */
int two_jobs_match(struct two_jobs *two, struct job *before, struct job *after,
                   const struct two_jobs_ask *ask, struct err *err);
void two_jobs_release(struct two_jobs *two);

/* Returns the trace's path on one side of a pair: side 0 is before, side 1 is after. */
static inline const char *two_jobs_path(const struct two_jobs *two, const struct place_pair *pair,
                                        int side)
{
    return two->jobs[side]->surveys[pair->places[side]->trace].path;
}

static inline int64_t place_pair_delta(const struct place_pair *pair)
{
    return (int64_t)(pair->bytes[1] - pair->bytes[0]);
}
