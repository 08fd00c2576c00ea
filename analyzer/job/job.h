/* SPDX-License-Identifier: MIT */
/*
 * The ranks of a job beside each other: where each peaked on each of its cards, which ranks are
 * alike, which group is typical and which stands out.
 *
 *     place   one trace on one device
 *     group   places whose peaks are alike (balance.h), ascending; the group of most is typical
 *
 * Peaks are those that the recorder wrote. If it wrote none, ranks with equal sums of events are
 * taken for alike: one of them is replayed, and stands for the others.
 */
#ifndef GPUMEMTRACE_ANALYZER_JOB_JOB_H
#define GPUMEMTRACE_ANALYZER_JOB_JOB_H

#include "analyzer/analysis/study.h"
#include "analyzer/diff/more.h"
#include "analyzer/reading/readings.h"
#include "cards.h"
#include "survey.h"

enum { JOB_LAYER_BYTES = 64 };

struct job_place {
    int trace, device;
    int like;         /* the trace that stands for it: itself, or one that is alike */
    int like_device;  /* the device's number there */
    bool is_recorded; /* the recorder wrote the peaks; false: `like` was replayed to find them */
    bool is_pool;
    char layer[JOB_LAYER_BYTES], uuid[64];
    uint64_t peak_bytes;        /* of the leading layer */
    uint64_t driver_peak_bytes; /* it includes the cache of the framework */
};

struct job_group {
    size_t first, count; /* of the places, ascending by peak */
    uint64_t peak_bytes, lowest_bytes;
    /* of its highest place, compared with the middle place of the typical group */
    struct more more;
};

struct job {
    struct readings *readings; /* the caller's */
    struct survey *surveys;
    int count;
    int *like; /* by trace: the trace that stands for it */
    struct job_place *places;
    size_t place_count, place_capacity;
    struct job_place *by_peak; /* places with memory, ascending; groups are ranges of it */
    size_t used_count;
    struct job_group *groups;
    size_t group_count, typical; /* number of a group */
    double imbalance_ratio;      /* the highest peak over the mean; 0: no rank had memory */
    struct shared_cards cards;
};

struct job_ask {
    bool takes_all;   /* each trace stands only for itself */
    bool compares;    /* find what the highest groups hold more than the typical one */
    bool replays_all; /* ignore the peaks that the recorder wrote, too */
};

/* The readings must outlive the job. On -1 nothing has to be released. */
int job_read(struct job *job, struct readings *readings, const struct job_ask *ask,
             struct err *err);
void job_release(struct job *job);

/* Finds what the second side holds more than the first one, each at its own peak. of_driver:
 * compares the driver's memory, else the leading layers. */
struct job_side {
    struct job *job;
    int trace, device;
};
int job_compare(struct more *more, const struct job_side sides[2], bool of_driver, struct err *err);
/* True if the trace had memory on any device. */
bool job_used_memory(const struct job *job, int trace);
const struct job_place *job_highest(const struct job *job, const struct job_group *group);
/* The median of the group. */
const struct job_place *job_middle(const struct job *job, const struct job_group *group);
/* The first earlier trace with equal sums and equal recorded peaks, in which nothing was refused;
 * -1: none. */
int job_twin(const struct job *job, int trace);
/* The group that stands out: the highest, if it is not the typical one; NULL: none. */
const struct job_group *job_outlier(const struct job *job);

#endif
