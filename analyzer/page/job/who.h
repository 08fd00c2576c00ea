/* SPDX-License-Identifier: MIT */
/* Names of ranks: "ranks 0-62", "rank 0 device 1", "train.db, eval.db". */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_JOB_WHO_H
#define GPUMEMTRACE_ANALYZER_PAGE_JOB_WHO_H

#include "analyzer/job/job.h"

enum { WHO_BYTES = 256 };

/* A rank and a device; trace: the number of the trace, which names a trace without rank. */
struct who {
    int64_t rank;
    int device, trace;
};

bool who_has_ranks(const struct job *job);
/* True if a trace has memory on several devices, so that a rank alone does not say which is
 * meant. */
bool who_has_several_devices(const struct job *job);

struct who who_of(const struct job *job, int trace, int device);
/* Writes the names of whos, which it sorts, into label. Returns label. */
const char *who_name(char label[WHO_BYTES], const struct job *job, struct who *whos, size_t count,
                     bool with_devices);
/* Names all places of a group. 0, or -1. */
int who_name_group(char label[WHO_BYTES], const struct job *job, const struct job_group *group,
                   struct err *err);

#endif
