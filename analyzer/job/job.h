/* SPDX-License-Identifier: MIT */
/*
 * Puts the ranks of a job beside each other. Finds where each rank peaked on each of its cards,
 * which ranks are alike, which group is typical and which group stands out.
 *
 *     place   one trace on one device
 *     group   places whose peaks are alike (balance.h), ascending; the largest group is typical.
 *             Memory on the card of another rank (strays.h) belongs to no group.
 *
 * Peaks are those that the recorder wrote. If it wrote none, ranks with equal sums of events count
 * as alike: one of them is replayed, and stands for all of them.
 */
#pragma once

#include "analyzer/analysis/study.h"
#include "analyzer/diff/more.h"
#include "analyzer/reading/readings.h"
#include "cards.h"
#include "survey.h"

enum { JOB_LAYER_BYTES = 64, JOB_SITE_BYTES = 512 };

struct job_place {
    int trace, device;
    /* the trace that stands for this place's trace: this trace, or one that is alike */
    int like;
    int like_device;  /* the number of the device in `like` */
    bool is_recorded; /* the recorder wrote the peaks; false: `like` was replayed to find them */
    bool is_pool;
    bool is_astray; /* it is on the card of another rank; see strays.h */
    char layer[JOB_LAYER_BYTES], uuid[64];
    uint64_t peak_bytes;        /* of the leading layer */
    uint64_t driver_peak_bytes; /* the cache of the framework is included */
};

struct job_group {
    size_t first, count; /* the group's places in by_peak */
    uint64_t peak_bytes, lowest_bytes;
    /* compares the group's highest place with the middle place of the typical group */
    struct more more;
};

struct job {
    struct readings *readings; /* the caller owns them */
    struct survey *surveys;
    int count;
    int *like; /* by trace: the trace that stands for it */
    struct job_place *places;
    size_t place_count, place_capacity;
    /* places with memory, ascending by peak; each group is a range of them */
    struct job_place *by_peak;
    size_t used_count;
    struct job_group *groups;
    size_t group_count, typical; /* typical is the number of a group */
    double imbalance_ratio;      /* the highest peak divided by the mean; 0: no rank had memory */
    struct shared_cards cards;
};

struct job_ask {
    bool takes_all;   /* each trace stands only for itself */
    bool compares;    /* find what the highest groups hold more than the typical one */
    bool replays_all; /* ignore the peaks that the recorder wrote, and replay every trace */
};

/* The readings must outlive the job. On -1 nothing has to be released. */
int job_read(struct job *job, struct readings *readings, const struct job_ask *ask,
             struct err *err);
void job_release(struct job *job);

/* Finds what the second side holds more than the first one. Each side is taken at its own peak. If
 * of_driver is set, compares the driver's memory, otherwise the leading layers. */
struct job_side {
    struct job *job;
    int trace, device;
};
int job_compare(struct more *more, const struct job_side sides[2], bool of_driver, struct err *err);
/* True if the trace had memory on any device. */
bool job_used_memory(const struct job *job, int trace);
const struct job_place *job_highest(const struct job *job, const struct job_group *group);
/* Returns the median place of the group. */
const struct job_place *job_middle(const struct job *job, const struct job_group *group);
/* Returns the first earlier trace that has equal sums and equal recorded peaks and in which nothing
 * was refused. Returns -1 if there is none. */
int job_twin(const struct job *job, int trace);
/* True if the typical group is one to compare with: it has several places, or the job has only two.
 * One of three different places is not typical. */
bool job_has_typical(const struct job *job);
/* Returns the group that stands out. It is the highest group, unless that is the typical one.
 * Returns NULL if no group stands out. */
const struct job_group *job_outlier(const struct job *job);
