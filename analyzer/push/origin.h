/* SPDX-License-Identifier: MIT */
/*
 * The origin of a trace, read from the trace itself: which rank of which run of which job it is,
 * when it started and on which host.
 */
#pragma once

#include "analyzer/fleet/tables.h"
#include "analyzer/load/trace.h"

enum { ORIGIN_DAY_BYTES = 16 };

/* Names that the user gives instead of the names in the trace. */
struct origin_ask {
    const char *job, *run; /* NULL: as in the trace */
};

struct origin {
    const char *path;
    int rank;
    struct trace_integer local_rank, world_size;
    uint64_t start_unix_ns;
    char day[ORIGIN_DAY_BYTES]; /* "2026-11-24" */
    char job[FLEET_NAME_BYTES], run[FLEET_NAME_BYTES];
};

/* Reads the origin. Each value is the first one in its row that is known:
 *
 *   job    the user's, SLURM_JOB_NAME, the program ("train.py" of "python3 train.py --lr=1")
 *   run    the user's, SLURM_JOB_ID (of an array with its task), TORCHELASTIC_RUN_ID, "1"
 *   rank   meta.rank, the launcher's variables, 0
 *
 * Returns -1 if a name is longer than FLEET_NAME_BYTES allows. */
int origin_read(struct origin *origin, const char *path, const struct origin_ask *ask,
                struct err *err);

/* Compares two origins for qsort: first by rank, and for equal ranks by start. */
int origin_compare(const void *left, const void *right);
