/* SPDX-License-Identifier: MIT */
/*
 * Where a trace comes from, as it says itself: which rank of which run of which job, when, on which host. It must not know
 * events, nor where rows go.
 */
#ifndef GPUMEMTRACE_ANALYZER_PUSH_ORIGIN_H
#define GPUMEMTRACE_ANALYZER_PUSH_ORIGIN_H

#include "analyzer/load/trace.h"

enum { ORIGIN_NAME_BYTES = 200, ORIGIN_DAY_BYTES = 16 };

/* What was asked for in place of what traces say. */
struct origin_ask {
    const char *job, *run; /* NULL: as the trace says */
};

struct origin {
    const char *path;
    int rank;
    struct trace_integer local_rank, world_size;
    uint64_t start_unix_ns;
    char day[ORIGIN_DAY_BYTES]; /* "2026-11-24" */
    char job[ORIGIN_NAME_BYTES], run[ORIGIN_NAME_BYTES];
};

/*
 *   job    what was asked for, SLURM_JOB_NAME, else the program: "train.py" of "python3 train.py --lr=1"
 *   run    what was asked for, SLURM_JOB_ID (of an array with its task), TORCHELASTIC_RUN_ID, else "1"
 *   rank   meta.rank, else the launcher's variables, else 0
 */
int origin_read(struct origin *origin, const char *path, const struct origin_ask *ask,
                struct err *err);

/* By rank, then by start. */
int origin_compare(const void *left, const void *right);

#endif
