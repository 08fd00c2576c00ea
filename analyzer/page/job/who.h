/* SPDX-License-Identifier: MIT */
/* Writes names of ranks, for example "ranks 0-62", "rank 0 device 1" or "train.db, eval.db". */
#pragma once

#include "analyzer/job/job.h"

enum { WHO_BYTES = 256 };

/* A rank and a device. `trace` is the number of the trace; it names a trace that has no rank. */
struct who {
    int64_t rank;
    int device, trace;
};

bool who_has_ranks(const struct job *job);
/* True if a trace has memory on several devices, so that the rank alone does not say which device
 * is meant. */
bool who_has_several_devices(const struct job *job);

struct who who_of(const struct job *job, int trace, int device);
/* Sorts `whos`, and writes their names into `label`. Returns `label`. */
const char *who_name(char label[WHO_BYTES], const struct job *job, struct who *whos, size_t count,
                     bool with_devices);
/* Names all places of a group. Returns 0, or -1 on an error. */
int who_name_group(char label[WHO_BYTES], const struct job *job, const struct job_group *group,
                   struct err *err);
/* Shortens a list of names to so many columns. Cuts it only between two names, because half a name
 * or half a number may be the name of another rank. The first name always stays. */
void who_fit(char label[WHO_BYTES], size_t columns);
