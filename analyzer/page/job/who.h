/* SPDX-License-Identifier: MIT */
/* Names of ranks: "ranks 0-62", "rank 0 device 1", "train.db, eval.db". It must not know what is said of them. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_JOB_WHO_H
#define GPUMEMTRACE_ANALYZER_PAGE_JOB_WHO_H

#include "analyzer/job/job.h"

enum { WHO_BYTES = 256 };

/* A rank, or where a trace has none its place among the traces; and a device. */
struct who {
    int64_t rank;
    int device, trace;
};

bool who_has_ranks(const struct job *job);
/* Whether a rank does not say which device is meant. */
bool who_has_several_devices(const struct job *job);

struct who who_of(const struct job *job, int trace, int device);
/* Sorts them. */
const char *who_name(char label[WHO_BYTES], const struct job *job, struct who *whos, size_t count,
                     bool with_devices);
/* All places of a group. */
int who_name_group(char label[WHO_BYTES], const struct job *job, const struct job_group *group,
                   struct err *err);

#endif
